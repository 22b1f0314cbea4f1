#include <cstdlib>

#include "peer/launch/agent/facts/facts.h"
#include "peer/launch/agent/transport/agent_frame.h"
#include "peer/wire/frame/frame.h"
#include "tests/peer/launch/launch_fixture.h"

// Messages of `run` about machines that it cannot use: the sentence, the host and the exit code. A
// script that behaves as the machine of the row would replaces ssh.

namespace gv {
namespace {

namespace fs = std::filesystem;

class SshRows : public Launch {
 protected:
  void TearDown() override { ::unsetenv("GRAPEVINE_SSH"); }

  std::string script(const std::string& name, const std::string& body) const {
    const std::string file = path(name);
    std::ofstream(file) << "#!/bin/sh\n" << body << "\n";
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  /// Sets what ssh does. `$last` is the command that ssh is given.
  void use_ssh(const std::string& body) const {
    ::setenv("GRAPEVINE_SSH", script("ssh", "for last; do :; done\n" + body).c_str(), 1);
  }
  /// Runs two peers on the machine `ben`, which only ssh knows.
  Ended run_there(const std::string& more = "", const char* command = "run") const {
    const std::string file = fleet(2, 20);
    std::string text;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
      text += (line.starts_with("peers:") ? "hosts: { ben: { ssh: ben, address: 10.1.1.1" + more +
                                                " } }\npeers: [{ host: ben, count: 2 }]"
                                          : line) +
              "\n";
    std::ofstream(file) << text;
    ::setenv("XDG_CACHE_HOME", path("cache").c_str(), 1);
    const Ended end = run({command, file});
    ::unsetenv("XDG_CACHE_HOME");
    return end;
  }
  static void expect_words(const Ended& end, std::initializer_list<const char*> words) {
    EXPECT_EQ(end.code, 5) << end.err;
    for (const char* word : words)
      EXPECT_NE(end.err.find(word), std::string::npos) << word << "\n" << end.err;
  }
};

TEST_F(SshRows, RefusedByTheServer) {
  use_ssh("echo 'Host key verification failed.' >&2; exit 255");
  expect_words(run_there(),
               {"host ben: Host key verification failed.", "connect once by hand: ssh ben"});
  use_ssh("echo 'ben: Permission denied (publickey,password).' >&2; exit 255");
  expect_words(run_there(), {"host ben: ben: Permission denied", "connect once by hand: ssh ben"});
}

TEST_F(SshRows, AnotherArchitecture) {
  fs::create_directory(path("bin"));
  script("bin/uname", "echo aarch64");
  use_ssh("PATH=" + path("bin") + ":$PATH exec sh -c \"$last\"");
  expect_words(run_there(),
               {"error: host ben: this program is for x86_64 and the machine is aarch64",
                "name it as binary"});
  EXPECT_FALSE(fs::exists(path("cache/grapevine/programs"))) << "nothing is copied before";
}

TEST_F(SshRows, AnOldProcessor) {
  fs::create_directory(path("bin"));
  script("bin/grep", "exit 1");
  use_ssh("PATH=" + path("bin") + ":$PATH exec sh -c \"$last\"");
  expect_words(run_there(),
               {"error: host ben: its processor has no avx2, which this program needs"});
  EXPECT_FALSE(fs::exists(path("cache/grapevine/programs")));
}

/// The launcher finds the agent after a greeting that does not end its line.
TEST_F(SshRows, AGreetingWithoutAnEndOfLine) {
  fs::create_directory(path("bin"));
  script("bin/grep", "exit 1");
  use_ssh("printf 'Welcome to ben! '; PATH=" + path("bin") + ":$PATH exec sh -c \"$last\"");
  expect_words(run_there(),
               {"error: host ben: its processor has no avx2, which this program needs"});
}

TEST_F(SshRows, AnOldCLibrary) {
  const std::string old = script(
      "old", "echo \"grapevine: /lib/libc.so.6: version 'GLIBC_2.36' not found\" >&2; exit 1");
  use_ssh("exec sh -c \"$last\"");
  expect_words(run_there(", binary: " + old), {"host ben: ", "version 'GLIBC_2.36' not found"});
}

/// An agent of another version sends its facts and ends its output. The message names the version.
TEST_F(SshRows, AnotherWireVersion) {
  HostFacts facts = own_facts();
  facts.wire = wire::version + 1;
  std::ofstream(path("frame"), std::ios::binary)
      << encode({AgentKind::facts, 0, facts_text(facts)});
  std::string hello = agent_hello("NONCE");
  hello.pop_back();
  const std::string other = script("other",
                                   "while [ $# -gt 0 ]; do [ \"$1\" = --nonce ] && n=$2; shift; "
                                   "done\necho '" +
                                       hello + "' | sed \"s/NONCE/$n/\"\ncat '" + path("frame") +
                                       "'\nexec cat > /dev/null");
  use_ssh("exec sh -c \"$last\"");
  const std::string versions = fmt::format(
      "host ben: its Grapevine speaks wire version {}, this one {}", facts.wire, wire::version);
  expect_words(run_there(", binary: " + other),
               {versions.c_str(), "install the same version there"});
}

/// A slow login, for example because its start-up files wait.
TEST_F(SshRows, ASlowLogin) {
  use_ssh("sleep 6; exec sh -c \"$last\"");
  const Ended end = run_there();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("no agent has come up yet on ben\n"), std::string::npos) << end.err;
}

/// Output of a shell's start-up files is shown once, and the fleet trains.
TEST_F(SshRows, NoiseBeforeTheAgent) {
  use_ssh("echo Welcome to ben; echo '\x1b]0;mine\x07'; exec sh -c \"$last\"");
  const Ended end = run_there();
  EXPECT_EQ(end.code, 0) << end.err;
  const std::size_t at = end.err.find("[ben] Welcome to ben");
  EXPECT_NE(at, std::string::npos) << end.err;
  EXPECT_EQ(end.err.find("Welcome to ben", at + 10), std::string::npos) << end.err;
  EXPECT_EQ(end.err.find('\x1b'), std::string::npos) << "escaped";
}

/// A script between launcher and agent changes the agent's clock to one day ahead, in as many
/// bytes. The fleet trains, and the user is warned.
TEST_F(SshRows, AnotherClock) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "needs python3";
  std::ofstream(path("day.py")) << R"(import os, re, subprocess, sys
agent = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
held, told = b"", False
while chunk := os.read(agent.stdout.fileno(), 65536):
    held += chunk
    clock = re.search(rb'"clock":([0-9.]+)[,}]', held)
    if b'{"wire":' in held and not clock and not told:
        continue
    if clock and not told:
        told, (begin, end) = True, clock.span(1)
        ahead = b"%.9f" % (float(clock[1]) + 86400)
        held = held[:begin] + ahead[:end - begin] + held[end:]
    while held:
        held = held[os.write(1, held):]
)";
  use_ssh("exec python3 " + path("day.py") + " sh -c \"$last\"");
  const Ended end = run_there();
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_NE(end.err.find("warning: host ben: its clock is +86"), std::string::npos) << end.err;
  const Ended examined = run_there("", "doctor");
  EXPECT_EQ(examined.code, 0) << "nothing depends on it: " << examined.output() << examined.err;
  EXPECT_NE(examined.output().find("[-] host ben: its clock is +86"), std::string::npos)
      << examined.output();
}

TEST_F(SshRows, NoiseWithoutEnd) {
  use_ssh("yes");
  expect_words(run_there(), {"host ben: ", "more than 64 KiB before its greeting"});
}

}  // namespace
}  // namespace gv

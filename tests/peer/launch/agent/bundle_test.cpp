#include "peer/launch/agent/transport/bundle.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/launch/agent/transport/ssh.h"
#include "peer/launch/launcher/peer_speeds.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

void write_program(const fs::path& path, const std::string& text) {
  write(path, "#!/bin/sh\n" + text + "\n");
  fs::permissions(path, fs::perms::owner_all);
}

std::string shell(const std::string& line) {
  std::string said;
  FILE* const out = ::popen(line.c_str(), "r");
  std::array<char, 4096> piece{};
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), out)) > 0;)
    said.append(piece.data(), n);
  ::pclose(out);
  return said;
}

constexpr const char* nonce = "0123456789abcdef";

/// A machine to which bundles are pushed. Everything that its shell uses is in a folder.
class Far {
 public:
  explicit Far(const std::string& processor) {
    write_program(scratch_.path() + "/bin/uname", "echo " + processor);
  }

  /// Returns what the launcher receives when `sent` answers the request for a program.
  std::string hears(const std::vector<Bundle>& bundles, const std::string& sent) const {
    const AgentWords words{.nonce = nonce, .run = "lan-0123"};
    write(scratch_.path() + "/script", ssh_pushed("pi", bundles, words).back());
    write(scratch_.path() + "/sent", sent);
    return shell(fmt::format(
        "cd {0} && PATH={0}/bin:$PATH XDG_CACHE_HOME={0}/cache sh script < sent", scratch_.path()));
  }

 private:
  ScratchFolder scratch_;
};

/// Returns a program that prints its processor, packed as the real one is.
Bundle packed(const ScratchFolder& scratch, const std::string& processor) {
  const std::string folder = scratch.path() + "/" + processor;
  write_program(folder + "/grapevine", "echo " + processor + " is started as $*");
  const std::string file = folder + "/" + file_of_bundle(processor);
  shell(fmt::format("tar -C {} -czf {} grapevine", folder, file));
  return {processor, "name-of-" + processor, file, fs::file_size(file)};
}

TEST(Bundles, EachKindOfMachineAsksForItsOwnAndRunsIt) {
  const ScratchFolder scratch;
  const std::vector<Bundle> both{packed(scratch, "x86_64"), packed(scratch, "aarch64")};
  for (const Bundle& bundle : both) {
    if (bundle.processor == "x86_64" && own_processor != "x86_64") continue;  // it lacks AVX2
    const Far far(bundle.processor);
    const std::string asks = fmt::format("grapevine-agent send {} {}\n", nonce, bundle.processor);
    const std::string runs = bundle.processor + " is started as agent --nonce ";
    const std::string heard = far.hears(both, bundle.read());
    EXPECT_TRUE(heard.starts_with(asks + runs)) << heard;
    EXPECT_TRUE(far.hears(both, "").starts_with(runs)) << "it has been kept there";
  }
}

TEST(Bundles, AMachineOfAKindThatThereIsNoneForSaysSo) {
  const ScratchFolder scratch;
  const std::vector<Bundle> one{packed(scratch, "x86_64")};
  for (const char* kind : {"aarch64", "riscv64"}) {
    const std::string heard = Far(kind).hears(one, one[0].read());
    EXPECT_TRUE(heard.starts_with(fmt::format(
        "grapevine-agent no {} this program is for x86_64 and the machine is {}: ", nonce, kind)))
        << heard;
    EXPECT_EQ(heard.find("started"), std::string::npos) << heard;
  }
}

std::string another_kind() {
  return std::string(own_processor == processors[0] ? processors[1] : processors[0]);
}

/// Sets XDG_DATA_HOME, and restores it at the end.
class Surroundings {
 public:
  explicit Surroundings(const std::string& data_home) {
    if (const char* const was = std::getenv("XDG_DATA_HOME")) was_ = was;
    ::setenv("XDG_DATA_HOME", data_home.c_str(), 1);
  }
  ~Surroundings() {
    if (was_.empty())
      ::unsetenv("XDG_DATA_HOME");
    else
      ::setenv("XDG_DATA_HOME", was_.c_str(), 1);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

 private:
  std::string was_;
};

TEST(Bundles, OfOtherKindsLieBesideTheProgramOrInTheUsersData) {
  const ScratchFolder scratch;
  const std::string program = scratch.path() + "/bin/grapevine";
  write_program(program, "");
  const Surroundings own(scratch.path() + "/data");
  EXPECT_TRUE(other_bundles(program).empty());
  const std::string name = file_of_bundle(another_kind());
  write(scratch.path() + "/data/grapevine/" + name, "from the data");
  write(scratch.path() + "/data/grapevine/" + file_of_bundle("vax"), "of no kind");
  write(scratch.path() + "/data/grapevine/" + file_of_bundle(own_processor), "of its own kind");
  const std::vector<Bundle> found = other_bundles(program);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].processor, another_kind());
  EXPECT_EQ(found[0].read(), "from the data");
  EXPECT_EQ(found[0].bytes, found[0].read().size());
  write(scratch.path() + "/bin/" + name, "from beside");
  const std::vector<Bundle> nearer = other_bundles(program);
  ASSERT_EQ(nearer.size(), 1U);
  EXPECT_EQ(nearer[0].read(), "from beside");
  EXPECT_NE(nearer[0].name, found[0].name) << "another build is another name";
}

}  // namespace
}  // namespace gv

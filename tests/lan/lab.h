#pragma once

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

// Fleets on three machines: network namespaces with an ssh server each (tests/lan/lab).

namespace gv {

namespace fs = std::filesystem;

/// Runs a command to its end; returns its output.
inline std::string said_by(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string text;
  if (pipe == nullptr) return text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

class Lab : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    for (const char* program : {"ip", "ssh", "sshd", "ssh-keygen", "unshare", "python3"})
      if (std::system(fmt::format("command -v {} > /dev/null", program).c_str()) != 0)
        GTEST_SKIP() << program << " is not installed (iproute2, openssh-server)";
    const std::string said = said_by(fmt::format("{} up {} {}", lab_, folder(), hosts()));
    up_ = fs::exists(folder() + "/prefix");
    if (said.find("Operation not permitted") != std::string::npos)
      GTEST_SKIP() << "no network namespace may be made here: " << said;
    ASSERT_TRUE(fs::exists(folder() + "/sshd_carl.pid")) << said;
  }
  virtual std::string hosts() const { return "anna ben carl"; }
  void TearDown() override {
    if (up_) said_by(fmt::format("{} down {}", lab_, folder()));
  }

  std::string folder() const { return (fs::path(scratch_.path()) / "lab").string(); }
  std::string path(const std::string& name) const {
    return (fs::path(scratch_.path()) / name).string();
  }

  /// Writes a fleet of two peers on each machine, as `init` writes them: without a name.
  std::string fleet(const std::string& name,
                    const std::string& hosts,
                    const std::string& more) const {
    std::ofstream(path(name)) << "version: 1\nseed: 7\n"
                              << hosts << "data: { kind: quadratic, dimension: 64 }\n"
                              << "model: quadratic\n"
                              << "train: { optimizer: { kind: sgd, lr: 0.05 } }\ntopology: ring\n"
                              << more << "output: { dir: " << path(name + ".run") << " }\n";
    return path(name);
  }
  static std::string three(const std::string& carl = "{}") {
    return fmt::format(
        "hosts: {{ anna: {{}}, ben: {{}}, carl: {} }}\n"
        "peers: [{{ host: anna, count: 2 }}, {{ host: ben, count: 2 }}, {{ host: carl, count: 2 "
        "}}]\n",
        carl);
  }

  /// Returns the command that runs the program at the desk, which is on the bridge too.
  std::vector<std::string> at_desk(std::vector<std::string> arguments) const {
    std::vector<std::string> all{lab_, "at", folder(), grapevine_program()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  Ended run_at_desk(std::vector<std::string> arguments) const {
    return Program(at_desk(std::move(arguments)), Program::as_it_stands).wait();
  }
  /// Returns the beginning of the names of this lab's namespaces.
  std::string prefix() const {
    std::ifstream in(folder() + "/prefix");
    std::string text;
    in >> text;
    return text;
  }
  /// Hides a folder on each host by mounting an empty one over it.
  void hide_from_hosts(const std::string& there) const {
    fs::create_directory(path("nothing"));
    for (const char* host : {"anna", "ben", "carl"}) {
      const std::string pid = said_by(fmt::format("cat {}/sshd_{}.pid", folder(), host));
      ASSERT_EQ(said_by(fmt::format("nsenter --mount --target {} mount --bind {} {}",
                                    pid.substr(0, pid.find('\n')), path("nothing"), there)),
                "");
    }
  }
  /// Sets the link of carl: "down" or "up".
  void link_of_carl(const char* act) const {
    said_by(fmt::format("ip -n {}-desk link set to3 {}", prefix(), act));
  }
  /// Kills the agent that a launcher has started on a host, and its peers.
  void kill_agent(const std::string& host) const {
    said_by(
        fmt::format("for p in $(ip netns pids {}-{}); do "
                    "tr '\\0' ' ' < /proc/$p/cmdline | grep -q ' agent --nonce' && "
                    "[ \"$(cat /proc/$p/comm)\" = grapevine ] && kill -KILL $p; done",
                    prefix(), host));
  }
  /// Returns the round of a peer's newest checkpoint in a host's cache; 0 if it has none.
  std::uint64_t newest_checkpoint(const std::string& host, const std::string& peer) const {
    std::uint64_t newest = 0;
    const std::string own = fmt::format("{}/cache_{}/grapevine/runs", folder(), host);
    if (!fs::exists(own)) return 0;
    std::istringstream names(
        said_by(fmt::format("find {} -path '*/{}/checkpoints/*.ckpt' -printf '%f\\n'", own, peer)));
    for (std::string name; std::getline(names, name);)
      if (name.ends_with(".ckpt")) newest = std::max<std::uint64_t>(newest, std::stoul(name));
    return newest;
  }
  /// Returns the number of folders of runs that a host has kept.
  std::size_t kept_runs(const std::string& host) const {
    const std::string own = fmt::format("{}/cache_{}/grapevine/runs", folder(), host);
    if (!fs::exists(own)) return 0;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(own), {}));
  }
  /// Returns the number of processes of a run in the namespace of a host.
  std::size_t processes(const std::string& host) const {
    std::istringstream pids(said_by(fmt::format("ip netns pids {}-{}", prefix(), host)));
    std::size_t count = 0;
    for (pid_t pid = 0; pids >> pid;) {
      std::ifstream name(fmt::format("/proc/{}/comm", pid));
      std::string text;
      name >> text;
      if (text.starts_with("grapevine")) ++count;
    }
    return count;
  }
  /// Returns whether the fleet of this file has reported a round.
  static bool trains(const std::string& fleet) {
    const std::string metrics = fleet + ".run/metrics.jsonl";
    return fs::exists(metrics) && fs::file_size(metrics) > 0;
  }
  bool nothing_runs() const {
    return processes("anna") + processes("ben") + processes("carl") == 0;
  }

  const std::string lab_ = std::string(source_folder()) + "/tests/lan/lab";
  ScratchFolder scratch_;
  bool up_ = false;
};

}  // namespace gv

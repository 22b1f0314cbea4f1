#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "tests/peer/launch/launch_fixture.h"

// Faults of real fleets on real machines, besides the death of a process.

namespace gv {
namespace {

namespace fs = std::filesystem;

TEST_F(Launch, InjectsWhatTheFileAsksFor) {
  Program program({"run",
                   fleet(5, 0,
                         "faults: { heartbeat: 100 ms, dead_after: 500 ms, inject: [\n"
                         "  { at: 300 ms, kill: 2 }, { at: 900 ms, start: 2 },\n"
                         "  { at: 300 ms, cut: [0, 4], for: 1500 ms },\n"
                         "  { at: 2500 ms, stop: 1, for: 1 s }] }\n"),
                   "--json"});
  for (const char* text :
       {"faults.inject: peer 2 is killed", "faults.inject: peers 0 and 4 are cut off for 1.5 s",
        "[peer 0] peer 4 is away", "[peer 4] peer 0 is away", "peer 2 starts again",
        "[peer 1] peer 2 is back as a new process", "[peer 0] peer 4 is back",
        "[peer 4] peer 0 is back", "faults.inject: peer 1 stands still for 1 s",
        "[peer 0] peer 1 is away", "[peer 0] peer 1 is back"})
    EXPECT_TRUE(program.says(text));
  program.kill(SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 143) << ended.err;
  EXPECT_EQ(ended.summary().at("lost"), 0) << ended.err;
}

/// Returns the thread of that name in a process.
pid_t thread_named(pid_t process, const std::string& wanted) {
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/task", process))) {
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm") >> std::ws, name);
    if (name == wanted) return std::stoi(entry.path().filename().string());
  }
  return 0;
}

/// Stops a thread for good in the middle of its arithmetic. It must not be in a system call, in
/// which it may hold a lock that another thread needs. Returns false if this machine does not let a
/// process trace another.
bool stop_in_arithmetic(pid_t process, pid_t thread) {
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return false;
  const auto stopped = [&] {
    ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
    ::waitpid(thread, nullptr, __WALL);
    std::string call;
    std::ifstream(fmt::format("/proc/{}/task/{}/syscall", process, thread)) >> call;
    if (call == "-1") return true;
    ::ptrace(PTRACE_CONT, thread, nullptr, nullptr);
    return false;
  };
  EXPECT_TRUE(comes_true(stopped));
  return true;
}

/// The peer's loop still runs and reports the fault, while its arithmetic is stuck in a job.
TEST_F(Launch, AStuckTrainerIsNamedAndEndsItself) {
  Program program(
      {"run", fleet(4, 0, "faults: { dead_after: 1 s, deadline: 500 ms, stuck_after: 3 s }\n"),
       "--json", "--set", "data.dimension=2000000", "--set", "evaluate.every=2 rounds"});
  ASSERT_TRUE(trains());
  const pid_t victim = pid_of(2);
  const pid_t trainer = thread_named(victim, "arithmetic");
  ASSERT_GT(trainer, 0);
  if (!stop_in_arithmetic(victim, trainer)) {
    program.kill(SIGTERM);
    program.wait();
    GTEST_SKIP() << "this machine lets no process trace another";
  }
  EXPECT_TRUE(
      program.says("[peer 1] peer 2: its process lives, and its arithmetic has been at one "
                   "job for"));
  EXPECT_TRUE(program.says("[peer 3] peer 2: its process lives"));
  EXPECT_TRUE(program.says("in time (faults.deadline): continuing"));
  ASSERT_TRUE(program.says("[peer 2] the arithmetic has been at one job for"));
  ::waitpid(trainer, nullptr, __WALL);  // the tracer must reap it too
  EXPECT_TRUE(program.says("peer 2 lost at round"));
  program.kill(SIGTERM);
  const Ended ended = program.wait();
  EXPECT_EQ(ended.code, 143) << ended.err;
  EXPECT_EQ(ended.summary().at("lost"), 1);
}

/// A disk of the test's own, of limited size.
class SmallDisk {
 public:
  SmallDisk(const fs::path& path, const char* size) : path_(path) {
    fs::create_directories(path);
    mounted_ = ::mount("tmpfs", path.c_str(), "tmpfs", 0, size) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  fs::path path_;
  bool mounted_;
};

/// Returns how often `text` holds `words`.
std::size_t count(const std::string& text, const std::string& words) {
  std::size_t found = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++found;
  return found;
}

/// A full disk once killed peers that could not write their reports' vectors. Later each peer
/// warned at each checkpoint, the exit code was that of a run in which no peer finished, and
/// `report` took the run for one still running.
TEST_F(Launch, AFullDiskCostsNoRound) {
  const SmallDisk disk(folder_ / "small", "size=2m");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  const std::string out = (folder_ / "small/run").string();
  const Ended ended = run({"run", fleet(4, 1000, "checkpoint: { every: 50 rounds, keep: 30 }\n"),
                           "--json", "--set", "output.dir=" + out, "--set", "data.dimension=20000",
                           "--set", "evaluate.every=200 rounds"});
  EXPECT_EQ(ended.code, 6) << "the model is not saved\n" << ended.err;
  EXPECT_EQ(count(ended.err, "warning: no space"), 1U) << ended.err;
  EXPECT_EQ(count(ended.err, "no checkpoint of round"), 1U) << ended.err;
  EXPECT_EQ(count(ended.err, "error: the model is not saved"), 1U) << ended.err;
  EXPECT_NE(ended.err.find("model.safetensors: cannot be written: No space left on device"),
            std::string::npos)
      << ended.err;
  EXPECT_EQ(ended.summary().at("rounds"), 1000);
  EXPECT_EQ(ended.summary().at("peers"), 4);
  EXPECT_EQ(ended.summary().at("exit_code"), 6);
  EXPECT_EQ(ended.out.size(), 6U) << "five evaluations and the summary";
  const Ended report = run({"report", out});
  EXPECT_EQ(report.err.find("has not ended"), std::string::npos) << report.err;
  const Ended resumed = run({"run", "--resume", out, "--json"});
  EXPECT_EQ(resumed.summary().at("params_hash"), ended.summary().at("params_hash")) << resumed.err;
}

/// Batch systems limit the size of files. Beyond the limit the system once ended peers by a signal.
TEST_F(Launch, ALimitOfTheSizeOfFilesIsAFullDisk) {
  const std::string file = fleet(4, 300, "checkpoint: { every: 50 rounds }\n");
  const std::vector<std::string> large{
      "run", file, "--json", "--set", "data.dimension=20000", "--set", "evaluate.every=100 rounds"};
  const Ended free = run(large);
  ASSERT_EQ(free.code, 0) << free.err;
  // In blocks of 512 bytes: less than a checkpoint, more than a record.
  std::string line = "ulimit -f 120; exec " + grapevine_program();
  for (const std::string& word : large) line += " '" + word + "'";
  const Ended limited = Program({"/bin/sh", "-c", line}, Program::as_it_stands).wait();
  EXPECT_EQ(limited.code, 6) << limited.err;
  EXPECT_EQ(limited.summary().at("lost"), 0) << limited.err;
  EXPECT_EQ(limited.summary().at("params_hash"), free.summary().at("params_hash"));
  EXPECT_EQ(count(limited.err, "warning: no space"), 1U) << limited.err;
  EXPECT_NE(limited.err.find("ulimit -f"), std::string::npos) << limited.err;
  const Ended report = run({"report", (folder_ / "run-2").string()});
  EXPECT_EQ(report.code, 0) << "the run is whole, but for its model\n" << report.err;
}

}  // namespace
}  // namespace gv

#include <csignal>

#include "tests/peer/launch/launch_fixture.h"

// Starts that are refused before a run or a peer does anything: sentence, advice and exit code.

namespace gv {
namespace {

namespace fs = std::filesystem;

void expect_words(const Ended& end, int code, std::initializer_list<std::string> words) {
  EXPECT_EQ(end.code, code) << end.err;
  for (const std::string& word : words)
    EXPECT_NE(end.err.find(word), std::string::npos) << word << "\n" << end.err;
}

/// Runs the program with limits on open files: "40:40" is the soft limit and the hard one.
Ended with_open_files(const std::string& limits, std::vector<std::string> arguments) {
  std::vector<std::string> all{"prlimit", "--nofile=" + limits, grapevine_program()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Program(all, Program::as_it_stands).wait();
}

TEST_F(Launch, TooFewOpenFilesAreRefusedWithBothNumbers) {
  const std::string file = fleet(3, 20);
  const Ended run_end = with_open_files("60:60", {"run", file});
  expect_words(run_end, 5, {"needs 82 open files, and 60 are allowed", "help:  raise the limit"});
  EXPECT_FALSE(fs::exists(path("run"))) << "nothing is made before";
  const Ended peer = with_open_files("60:60", {"peer", file, "--id", "0"});
  expect_words(peer, 5, {"needs 68 open files, and 60 are allowed"});
  const Ended raised = with_open_files("60:4096", {"run", file, "--json"});
  EXPECT_EQ(raised.code, 0) << raised.err;
}

/// The required number is enough, for the launcher and for its peers.
TEST_F(Launch, AsManyOpenFilesAsItAsksForAreEnough) {
  const std::string file = fleet(12, 100, "checkpoint: { every: 20 rounds }\n");
  const Ended end =
      with_open_files("136:136", {"run", file, "--json", "--set", "topology=complete"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.summary().at("shared_edges").size(), 66U);
}

TEST_F(Launch, CheckpointsAreKeptInAFolderOfOurOwn) {
  const std::string file = fleet(2, 40, "checkpoint: { every: 10 rounds }\n");
  ASSERT_EQ(run({"run", file}).code, 0);
  const std::string own = path("run/peers/001/checkpoints");
  fs::permissions(own, fs::perms::all);
  const std::vector<std::string> resume{"run", "--resume", path("run"), "--json"};
  expect_words(run(resume), 5, {own + ": every user may write there (mode 0777)", "chmod o-w"});
  fs::permissions(own, fs::perms::owner_all);
  fs::rename(own, path("elsewhere"));
  fs::create_directory_symlink(path("elsewhere"), own);
  expect_words(run(resume), 5, {own + ": is a link", "help:  put the folder itself there"});
  fs::remove(own);
  fs::rename(path("elsewhere"), own);
  EXPECT_EQ(run(resume).code, 0) << "it is the folder of before";
}

TEST_F(Launch, APeerByHandKeepsItsBooksInAFolderOfItsOwn) {
  const std::string file = fleet(2, 40);
  fs::create_directories(path("run/peers"));
  fs::create_directory(path("elsewhere"));
  fs::create_directory_symlink(path("elsewhere"), path("run/peers/000"));
  expect_words(run({"peer", file, "--id", "0", "--rejoin", "--wait", "1"}), 5,
               {path("run/peers/000") + ": is a link"});
}

/// Both runs find free ports, and the second folder has a number.
TEST_F(Launch, TwoRunsOfOneFileAtOnceDoNotMeet) {
  const std::string file = fleet(3, 2000);
  Program first({"run", file, "--json"});
  Program second({"run", file, "--json"});
  const Ended one = first.wait();
  const Ended two = second.wait();
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(two.code, 0) << two.err;
  for (const char* name : {"run/summary.json", "run-2/summary.json"})
    EXPECT_TRUE(fs::exists(path(name))) << name;
  EXPECT_EQ(one.summary().at("params_hash"), two.summary().at("params_hash"));
  for (const std::string& said : {one.err, two.err})
    EXPECT_EQ(said.find("refused"), std::string::npos) << said;
}

/// Some machines have their own name at 127.0.1.1 in /etc/hosts. Another spelling of the number
/// stands for such a name here.
TEST_F(Launch, AnAddressThatLeadsToItselfIsRefusedByThePeerThatHasIt) {
  const std::string file = path("lan.yaml");
  std::ofstream(file) << "version: 1\nname: lan\nhosts:\n"
                         "  anna: { address: 192.0.2.1 }\n"
                         "  ben: { port: 27000, address: \"0x7f000101\" }\n"
                         "peers: [{ host: anna }, { host: ben }]\n"
                         "data: { kind: quadratic, dimension: 8 }\nmodel: quadratic\n"
                         "train: { optimizer: { kind: sgd, lr: 0.05 } }\n"
                         "topology: ring\nstop: { rounds: 10 }\n"
                      << "output: { dir: " << path("run") << " }\n";
  expect_words(
      run({"peer", file, "--id", "1", "--wait", "1"}), 5,
      {"ben's address `0x7f000101` is 127.0.1.1 on this machine, which only ben itself can "
       "reach, and peer 0 lives on another one",
       file + ":5:32", "help:  does /etc/hosts map its name to that?"});
}

}  // namespace
}  // namespace gv

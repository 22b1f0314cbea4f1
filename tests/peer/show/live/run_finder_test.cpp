#include "peer/show/live/run_finder.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/show/live/live_address.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Makes the test's folder the current one, as for a user at a shell.
class RunFinder : public testing::Test {
 protected:
  RunFinder() : before_(fs::current_path()) { fs::current_path(scratch_.path()); }
  ~RunFinder() override { fs::current_path(before_); }

  static void make_run(const std::string& name, int age_minutes) {
    fs::create_directories("runs/" + name);
    const std::string file = "runs/" + name + "/run.json";
    std::ofstream(file) << "{}";
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(age_minutes));
  }

 private:
  ScratchFolder scratch_;
  fs::path before_;
};

TEST_F(RunFinder, TheNewestIsMeantOrOneThatGoesOn) {
  EXPECT_THROW(find_run(""), std::invalid_argument);
  make_run("old", 60);
  make_run("new", 1);
  make_run("older", 120);
  fs::create_directories("runs/sweep");  // no run
  EXPECT_EQ(find_run(""), "runs/new");
  const Descriptor listening = listen_live("runs/old");
  EXPECT_EQ(find_run(""), "runs/old");
}

TEST_F(RunFinder, ARunHasAFolderOrAName) {
  make_run("mine", 1);
  EXPECT_EQ(find_run("mine"), "runs/mine");
  EXPECT_EQ(find_run("runs/mine"), "runs/mine");
  EXPECT_THROW(find_run("other"), std::invalid_argument);
  EXPECT_THROW(find_run("runs"), std::invalid_argument);
}

TEST_F(RunFinder, ACheckpointIsOneOfEveryPeer) {
  make_run("mine", 1);
  EXPECT_FALSE(common_checkpoint("runs/mine"));
  const auto keep = [](int peer, Round round) {
    const std::string folder = fmt::format("runs/mine/peers/{:03}/checkpoints", peer);
    fs::create_directories(folder);
    std::ofstream(fmt::format("{}/{:08}.ckpt", folder, round)) << "x";
  };
  keep(0, 100);
  keep(0, 200);
  keep(1, 100);
  std::ofstream("runs/mine/peers/001/checkpoints/00000200.ckpt.tmp") << "half";
  EXPECT_EQ(common_checkpoint("runs/mine"), 100U);
  keep(1, 200);
  EXPECT_EQ(common_checkpoint("runs/mine"), 200U);
  fs::create_directories("runs/mine/peers/002");
  EXPECT_FALSE(common_checkpoint("runs/mine"));
}

TEST_F(RunFinder, TellsHowARunEnded) {
  make_run("mine", 1);
  EXPECT_NE(end_of_run("runs/mine").find("without a summary"), std::string::npos);
  std::ofstream("runs/mine/summary.json")
      << R"({"event":"summary","rounds":300,"peers":8,"lost":1,"loss":0.5,"accuracy":0.9,)"
         R"("accuracy_min":0.88,"accuracy_max":0.91,"consensus":0.01,"seconds":12.5})";
  const std::string end = end_of_run("runs/mine");
  EXPECT_NE(end.find("ended      300 rounds in 12.5 s, 8 peers, 1 lost"), std::string::npos) << end;
  EXPECT_NE(end.find("accuracy   0.9000"), std::string::npos) << end;
}

TEST_F(RunFinder, TellsTheReturnOfAgents) {
  make_run("mine", 1);
  std::ofstream("runs/mine/summary.json")
      << R"({"event":"summary","rounds":300,"peers":8,"lost":0,"loss":-480.5,"accuracy":null,)"
         R"("accuracy_min":null,"accuracy_max":null,"return":480.5,"return_local":470,)"
         R"("frames":9600,"consensus":0.01,"seconds":12.5})";
  const std::string end = end_of_run("runs/mine");
  EXPECT_NE(end.find("return     480.5 mean model, 9600 frames"), std::string::npos) << end;
  EXPECT_EQ(end.find("actors"), std::string::npos) << end;
}

TEST_F(RunFinder, TellsWhatActorsAndMemoriesDid) {
  make_run("mine", 1);
  const auto end_with = [](const std::string& ratio) {
    std::ofstream("runs/mine/summary.json")
        << R"({"event":"summary","rounds":300,"peers":10,"lost":0,"loss":-480.5,"accuracy":null,)"
           R"("accuracy_min":null,"accuracy_max":null,"return":480.5,"return_local":470,)"
           R"("frames":9600,"samples_per_insert":)"
        << ratio << R"(,"memory":2000,"actors":8,"consensus":0.01,"seconds":12.5})";
    return end_of_run("runs/mine");
  };
  const std::string end = end_with("15.96");
  EXPECT_NE(end.find("\nactors     8 alive; 15.96 samples learnt for each transition taken, 2000 "
                     "transitions kept"),
            std::string::npos)
      << end;
  EXPECT_NE(end_with("null").find("\nactors     8 alive; 2000 transitions kept"),
            std::string::npos);
}

}  // namespace
}  // namespace gv

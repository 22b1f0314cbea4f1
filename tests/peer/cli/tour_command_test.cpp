#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/peer/cli/project_folder.h"
#include "tests/peer/launch/program.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

class Tour : public testing::Test {
 protected:
  /// Runs one tour for all tests that only look at its results.
  static void SetUpTestSuite() {
    project_ = new ProjectFolder;
    ASSERT_EQ(project_->run("grapevine tour"), 0) << project_->err();
    screen_ = project_->out();
  }
  static void TearDownTestSuite() {
    delete project_;
    project_ = nullptr;
  }
  static fs::path root() { return project_->root(); }
  static std::vector<std::string> next_commands() {
    std::vector<std::string> commands;
    std::istringstream in(screen_);
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("grapevine ")) commands.push_back(line);
    return commands;
  }
  /// Returns the time at which each finished trial was written, by folder.
  static std::map<std::string, fs::file_time_type> trials_in(const fs::path& tour) {
    std::map<std::string, fs::file_time_type> all;
    std::error_code not_yet;
    for (const auto& entry : fs::directory_iterator(tour / "trials", not_yet))
      all[entry.path().filename().string()] = fs::last_write_time(entry.path() / "summary.json");
    return all;
  }

  static inline ProjectFolder* project_ = nullptr;
  static inline std::string screen_;
};

TEST_F(Tour, NamesTheFirstOnEachNetworkAndDrawsAPage) {
  for (const char* words : {"\nnetwork cities\n", "\nnetwork data-centre\n", "report.html\n"})
    EXPECT_NE(screen_.find(words), std::string::npos) << words << screen_;
  for (const char* system :
       {"ring ", "ring-32", "all-reduce", "local-sgd-32", "server  ", "fedavg"})
    EXPECT_NE(screen_.find(std::string("  ") + system), std::string::npos) << system;
  EXPECT_TRUE(text_of(root() / "runs/tour/report.html").starts_with("<!DOCTYPE html>"));
}

TEST_F(Tour, TheThreeNextCommandsWork) {
  ASSERT_EQ(next_commands().size(), 3U) << screen_;
  for (const std::string& command : next_commands())
    EXPECT_EQ(project_->run(command), 0) << command << "\n" << project_->err();
}

TEST_F(Tour, ASecondOneShowsTheSameAndSaysHowToTrainAgain) {
  const auto before = trials_in(root() / "runs/tour");
  EXPECT_EQ(before.size(), 36U);
  ASSERT_EQ(project_->run("grapevine tour"), 0) << project_->err();
  EXPECT_EQ(project_->out(), screen_);
  EXPECT_NE(project_->err().find("grapevine tour -o runs/tour-2"), std::string::npos)
      << project_->err();
  EXPECT_EQ(trials_in(root() / "runs/tour"), before);
}

TEST_F(Tour, AnswersAsJson) {
  ASSERT_EQ(project_->run("grapevine tour --json"), 0) << project_->err();
  const auto said = nlohmann::json::parse(project_->out());
  EXPECT_EQ(said.at("schema"), "grapevine.tour/1");
  EXPECT_EQ(said.at("page"), "runs/tour/report.html");
  EXPECT_EQ(said.at("comparison").at("schema"), "grapevine.compare/1");
  EXPECT_EQ(said.at("comparison").at("sections").size(), 2U);
  std::vector<std::string> commands;
  for (const auto& next : said.at("next")) commands.push_back(next.at("command"));
  EXPECT_EQ(commands, next_commands());
}

/// An interrupted and continued tour shows the results of a whole one.
TEST_F(Tour, CtrlCKeepsWhatIsDoneAndTheSameCommandContinues) {
  const ProjectFolder other;
  const fs::path folder = other.root() / "runs/tour";
  Program tour({"tour", "-o", folder.string()});
  EXPECT_TRUE(comes_true([&] { return !trials_in(folder).empty(); }));
  tour.kill(SIGINT);
  const Ended ended = tour.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_NE(ended.err.find("the same command continues"), std::string::npos) << ended.err;
  EXPECT_FALSE(fs::exists(folder / "report.html"));
  const auto kept = trials_in(folder);
  EXPECT_LT(kept.size(), 36U);
  ASSERT_EQ(other.run("grapevine tour"), 0) << other.err();
  EXPECT_EQ(other.out(), screen_);
  const auto after = trials_in(folder);
  EXPECT_EQ(after.size(), 36U);
  for (const auto& [trial, written] : kept) EXPECT_EQ(after.at(trial), written) << trial;
}

TEST_F(Tour, AFolderWithOtherFilesStaysAsItIs) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path();
  std::ofstream(folder + "/sweep.yaml") << "mine\n";
  const Ended refused = run({"tour", "-o", folder + "/"});
  EXPECT_EQ(refused.code, 2) << refused.output();
  EXPECT_NE(refused.err.find("help:  name a new folder: grapevine tour -o " + folder + "-2"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(text_of(folder + "/sweep.yaml"), "mine\n");
  EXPECT_FALSE(fs::exists(folder + "/base.yaml"));
}

TEST_F(Tour, AFolderThatCannotBeWrittenIsAnError) {
  const ScratchFolder scratch;
  const std::string file = scratch.path() + "/file";
  std::ofstream(file) << "text\n";
  for (const std::string& folder : {file, file + "/below", std::string("/proc/tour")}) {
    const Ended refused = run({"tour", "-o", folder});
    EXPECT_EQ(refused.code, 5) << refused.output();
    EXPECT_NE(refused.err.find("tour: cannot write into " + folder), std::string::npos)
        << refused.err;
  }
  EXPECT_EQ(project_->run("(ulimit -f 0; grapevine tour -o full 2>&1) | grep 'is the disk full'"),
            0);
}

}  // namespace
}  // namespace gv

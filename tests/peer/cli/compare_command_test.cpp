#include <filesystem>

#include "tests/peer/launch/program.h"
#include "tests/peer/record/runs/run_folders.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

/// Two methods with three seeds each, compared as a user would.
class CompareCommand : public testing::Test {
 protected:
  CompareCommand() {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const bool slow : {false, true}) {
        FolderOfRun run{.algorithm = slow ? "all-reduce" : "d-psgd", .seed = seed};
        run.seconds_per_round = (slow ? 0.2 : 0.1) * (1 + 0.01 * static_cast<double>(seed));
        run.write(path(fmt::format("{}-{}", run.algorithm, seed)));
        folders_.push_back(path(fmt::format("{}-{}", run.algorithm, seed)));
      }
    }
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  Ended compare(std::vector<std::string> more) const {
    std::vector<std::string> words = {"compare"};
    words.insert(words.end(), folders_.begin(), folders_.end());
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  ScratchFolder folder_;
  std::vector<std::string> folders_;
};

TEST_F(CompareCommand, AnswersInAScreenOrInJson) {
  const Ended text = compare({"--target", "accuracy=0.5"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.output().find("d-psgd is first: all-reduce takes 2.00x (2.00 .. 2.00) as long."),
            std::string::npos)
      << text.output();
  for (const std::string& line : text.out) EXPECT_LE(line.size(), 80U) << line;
  const Ended json = compare({"--target", "accuracy=0.5", "--json"});
  const auto answer = json.summary();
  EXPECT_EQ(answer.at("schema"), "grapevine.compare/1");
  const auto& section = answer.at("sections").at(0);
  EXPECT_EQ(section.at("contenders").at(0).at("name"), "d-psgd");
  EXPECT_EQ(section.at("contenders").at(1).at("centralized"), true);
  EXPECT_NEAR(section.at("pairs").at(0).at("center").get<double>(), 2, 1e-9);
  EXPECT_EQ(section.at("pairs").at(0).at("p_sign_flip"), 0.25);
  EXPECT_EQ(section.at("contenders").at(0).at("runs").size(), 3U);
}

TEST_F(CompareCommand, HoldsFleetsToExpectations) {
  const std::vector<std::string> target{"--target", "accuracy=0.5"};
  const auto code = [&](const std::string& claim) {
    return compare({"--target", "accuracy=0.5", "--expect", claim}).code;
  };
  EXPECT_EQ(code("d-psgd < all-reduce @ time by 1.5x"), 0);
  EXPECT_EQ(code("all-reduce < d-psgd @ time"), 4);
  EXPECT_EQ(code("d-psgd < all-reduce @ cpu"), 4);  // nobody recorded it: undecided
  EXPECT_EQ(code("d-psgd < all-reduce"), 2);
  const Ended missed = compare({"--json", "--expect", "all-reduce < d-psgd @ time"});
  EXPECT_EQ(missed.summary().at("expectations").at(0).at("verdict"), "missed");
}

TEST_F(CompareCommand, NamesWhatIsDamagedAndNeverAveragesIt) {
  std::filesystem::resize_file(path("d-psgd-2/metrics.jsonl"), 300);
  const Ended left = compare({"--target", "accuracy=0.5", "--json"});
  EXPECT_EQ(left.code, 0) << left.err;
  EXPECT_NE(left.err.find("left out: " + path("d-psgd-2/metrics.jsonl")), std::string::npos)
      << left.err;
  EXPECT_EQ(left.summary().at("left_out").size(), 1U);
  EXPECT_EQ(left.summary().at("sections").at(0).at("contenders").at(0).at("seeds"), 2);
}

/// `compare` reads the folders of `run` and `simulate` unchanged.
TEST_F(CompareCommand, ReadsRealRuns) {
  const std::string fleet = source_folder() + "/configs/quadratic-ring16.yaml";
  const std::vector<std::string> sets{"--set", "peers=2",
                                      "--set", "stop.rounds=30",
                                      "--set", "evaluate.every=10 rounds",
                                      "--set", "output.dir=" + path("real/x")};
  for (const char* command : {"run", "simulate"}) {
    std::vector<std::string> words{command, fleet, "--json"};
    words.insert(words.end(), sets.begin(), sets.end());
    const Ended ended = run(words);
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  const Ended both = run({"compare", path("real"), "--target", "loss=0.1", "--json"});
  ASSERT_EQ(both.code, 0) << both.err;
  const auto answer = both.summary();
  EXPECT_EQ(answer.at("columns"), nlohmann::json({"in"}));
  const auto& contenders = answer.at("sections").at(0).at("contenders");
  ASSERT_EQ(contenders.size(), 2U);
  // Rounds and loss have the same bits; only the clocks differ.
  EXPECT_EQ(contenders.at(0).at("means").at("rounds"), contenders.at(1).at("means").at("rounds"));
  EXPECT_EQ(contenders.at(0).at("means").at("loss"), contenders.at(1).at("means").at("loss"));
  EXPECT_NE(contenders.at(0).at("means").at("time"), contenders.at(1).at("means").at("time"));
}

TEST_F(CompareCommand, RefusesWhatCannotBeAnswered) {
  EXPECT_EQ(compare({"--target", "speed=1"}).code, 2);
  const Ended far = compare({"--target", "loss=0.001"});
  EXPECT_EQ(far.code, 2);
  EXPECT_NE(far.err.find("no run reaches loss 0.001"), std::string::npos) << far.err;
  EXPECT_EQ(compare({"--by", "network"}).code, 2);
  EXPECT_EQ(compare({"--columns", "time,speed"}).code, 2);
  EXPECT_EQ(run({"compare", path("nowhere")}).code, 2);
  std::filesystem::create_directories(path("empty"));
  EXPECT_EQ(run({"compare", path("empty")}).code, 5);
}

}  // namespace
}  // namespace gv

#include <cstdlib>
#include <filesystem>

#include "peer/record/report/screen.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

/// `init` for a user's first fleet file.
class Init : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string read(const std::string& name) const { return text_of(path(name)); }
  /// Writes the file and runs it.
  nlohmann::json runs(const std::string& name, std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"init", path(name)});
    const Ended made = run(flags);
    EXPECT_EQ(made.code, 0) << made.err;
    const Ended ended =
        run({"simulate", path(name), "--set", "output.dir=" + path("run"), "--json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.summary();
  }
  std::string refusal(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"init", path("no.yaml")});
    const Ended ended = run(flags);
    EXPECT_EQ(ended.code, 2) << ended.output();
    EXPECT_FALSE(std::filesystem::exists(path("no.yaml")));
    return ended.err;
  }

  ScratchFolder folder_;
};

TEST_F(Init, ATableIsLearntToItsGoal) {
  const std::string iris = source_folder() + "/configs/data/iris.csv";
  const auto summary =
      runs("iris.yaml", {"--data", iris, "--machines", "3", "--goal", "accuracy 0.9"});
  EXPECT_TRUE(summary.at("target").at("reached"));
  EXPECT_NE(read("iris.yaml").find("target: species"), std::string::npos);
}

/// The published iris.data has no line of names; its first flower once became one.
TEST_F(Init, AFirstLineThatIsDataIsTakenForData) {
  std::ofstream(path("iris.data")) << "5.1,3.5,Iris-setosa\n4.9,3.0,Iris-setosa\n7.0,3.2,Iris-"
                                      "versicolor\n6.4,3.2,Iris-versicolor\n6.3,3.3,Iris-"
                                      "virginica\n5.8,2.7,Iris-virginica\n";
  const std::vector<std::string> flags{"--data", path("iris.data"), "--machines",
                                       "2",      "--goal",          "20 rounds"};
  runs("iris.yaml", flags);
  EXPECT_NE(read("iris.yaml").find("header: false"), std::string::npos) << read("iris.yaml");
  EXPECT_NE(read("iris.yaml").find("target: x2"), std::string::npos);
  std::vector<std::string> again{"init", path("again.yaml")};
  again.insert(again.end(), flags.begin(), flags.end());
  const std::string said = run(again).output();
  EXPECT_NE(said.find("no line of names, since `Iris-setosa` is also a value in its column"),
            std::string::npos)
      << said;
}

TEST_F(Init, OtherDataAndGoals) {
  std::ofstream(path("y.csv")) << "a,b\n1,2.5\n2,4.25\n3,6.1\n4,8.2\n5,9.9\n6,12.2\n7,14\n8,16.3\n";
  runs("y.yaml", {"--data", path("y.csv"), "--machines", "2", "--goal", "30 rounds"});
  EXPECT_NE(read("y.yaml").find("file: y.csv"), std::string::npos) << "beside the fleet file";
  EXPECT_NE(read("y.yaml").find("model: linear"), std::string::npos);
  for (int k = 0; k < 30; ++k) {
    std::filesystem::create_directories(path(k % 2 == 0 ? "shots/day one" : "shots/night"));
    std::ofstream(fmt::format("{}/{}.pgm", path(k % 2 == 0 ? "shots/day one" : "shots/night"), k),
                  std::ios::binary)
        << "P5 4 4 255\n"
        << std::string(16, static_cast<char>(k % 2 == 0 ? 100 + k : k));
  }
  runs("shots.yaml", {"--data", path("shots"), "--machines", "2", "--goal", "2 epochs"});
}

/// Sixty columns are nearly equal. A rate that suits ten columns makes the loss infinite here.
TEST_F(Init, ARegressionWithManyColumnsIsLearnt) {
  std::ofstream out(path("wide.csv"));
  std::uint32_t state = 1;
  const auto drawn = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(state >> 8) / (1 << 24) - 0.5;
  };
  for (int c = 0; c < 60; ++c) out << "x" << c << ",";
  out << "price\n";
  for (int r = 0; r < 400; ++r) {
    const double base = drawn();
    for (int c = 0; c < 60; ++c) out << fmt::format("{:.4f},", base + 0.2 * drawn());
    out << fmt::format("{:.0f}\n", 250'000 + 90'000 * base + 5000 * drawn());
  }
  out.close();
  const std::string command =
      fmt::format("printf '\\n\\n' | '{}' init '{}' --data '{}' 2> '{}'", grapevine_program(),
                  path("wide.yaml"), path("wide.csv"), path("said"));
  ASSERT_EQ(std::system(command.c_str()), 0) << read("said");
  EXPECT_NE(read("said").find("`loss 0.4` [100 epochs]"), std::string::npos)
      << "a regression has no accuracy, and 320 rows need many epochs: " << read("said");
  const std::string file = read("wide.yaml");
  EXPECT_NE(file.find("stop: { epochs: 100 }"), std::string::npos) << file;
  EXPECT_NE(file.find("evaluate: { every: 10 epochs }"), std::string::npos) << file;
  const Ended ended =
      run({"simulate", path("wide.yaml"), "--set", "output.dir=" + path("run"), "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_GT(ended.summary().at("r2").get<double>(), 0.9);
}

TEST_F(Init, ThreeQuestionsHaveUsualAnswers) {
  const std::string command =
      fmt::format("printf 'digits\\n\\n20 rounds\\n' | '{}' init '{}' > '{}' 2>&1",
                  grapevine_program(), path("asked.yaml"), path("said"));
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string said = read("said");
  EXPECT_NE(said.find("What is to be learnt?"), std::string::npos) << said;
  EXPECT_NE(said.find("On which machines?"), std::string::npos);
  EXPECT_NE(said.find("Until when?"), std::string::npos);
  EXPECT_NE(read("asked.yaml").find("peers: 4"), std::string::npos);
  EXPECT_NE(read("asked.yaml").find("rounds: 20"), std::string::npos);
}

/// Each machine of a lobby has rows of its own: this one has the first part, and all the test set.
class InitParts : public Init {
 protected:
  void SetUp() override {
    write_part("part-0.csv", 0, "ash");
    write_part("test.csv", 7, "oak");
  }
  void write_part(const std::string& name, int first, const char* wood) const {
    std::ofstream out(path(name));
    out << "weight,wood,kind\n";
    for (int r = first; r < first + 40; ++r)
      out << fmt::format("{},{},{}\n", 300 + r * 37 % 90, r % 2 == 0 ? wood : "fir",
                         r * 37 % 90 > 45 ? "big" : "small");
  }
  std::vector<std::string> flags(const std::string& goal) const {
    return {
        "--data", path("part-{id}.csv"), "--test", path("test.csv"), "--machines", "3", "--goal",
        goal};
  }
};

TEST_F(InitParts, MakeAFileThatRunsWithEveryPart) {
  std::vector<std::string> words{"init", path("own.yaml")};
  for (const std::string& flag : flags("accuracy 0.9")) words.push_back(flag);
  const Ended made = run(words);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.output().find("grapevine run"), std::string::npos) << "two parts are elsewhere";
  EXPECT_NE(made.output().find("grapevine lobby"), std::string::npos) << made.output();
  const std::string text = read("own.yaml");
  for (const char* line :
       {"  file: \"part-{id}.csv\"", "  test: test.csv", "  standardize: { file: stats.yaml }",
        "  rounds: 5000", "evaluate: { every: 20 rounds }"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  EXPECT_NE(read("stats.yaml").find("values: [\"ash\", \"fir\", \"oak\"]"), std::string::npos)
      << read("stats.yaml");
  write_part("part-1.csv", 11, "oak");
  write_part("part-2.csv", 25, "ash");
  const Ended ended =
      run({"run", path("own.yaml"), "--set", "output.dir=" + path("run"), "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(ended.summary().at("target").at("reached"));
  EXPECT_EQ(ended.err.find("notice"), std::string::npos) << ended.err;
}

TEST_F(InitParts, WhatIsMissingIsSaid) {
  EXPECT_NE(refusal(flags("20 epochs")).find("write `1000 rounds`"), std::string::npos);
  std::filesystem::remove(path("part-0.csv"));
  EXPECT_NE(refusal(flags("9 rounds")).find("part-0.csv; peer 0 trains on this machine"),
            std::string::npos);
  write_part("part-0.csv", 0, "ash");
  std::filesystem::remove(path("test.csv"));
  EXPECT_NE(refusal(flags("9 rounds")).find("test.csv; name a table"), std::string::npos);
  EXPECT_NE(refusal({"--data", path("part-{id}.csv"), "--machines", "2", "--goal", "9 rounds"})
                .find("--test: missing; all peers need one test set"),
            std::string::npos);
  EXPECT_NE(refusal({"--data", "digits", "--test", "a.csv", "--machines", "2", "--goal", "1 s"})
                .find("only a table has a test set"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("stats.yaml")));
  write_part("test.csv", 7, "oak");
  std::ofstream(path("stats.yaml")) << "mine";
  EXPECT_NE(refusal(flags("9 rounds")).find("stats.yaml is there already"), std::string::npos);
  EXPECT_EQ(read("stats.yaml"), "mine");
}

TEST_F(InitParts, ATestSetOfOneTableIsAFileToo) {
  runs("one.yaml", {"--data", path("part-0.csv"), "--test", path("part-0.csv"), "--machines", "2",
                    "--goal", "20 rounds"});
  EXPECT_NE(read("one.yaml").find("  test: \"part-0.csv\"\n"), std::string::npos)
      << read("one.yaml");
  EXPECT_EQ(read("one.yaml").find("held_out"), std::string::npos);
}

TEST_F(Init, MachinesByNameAreHosts) {
  const Ended made = run(
      {"init", path("lan.yaml"), "--data", "digits", "--machines", "anna,ben", "--goal", "10 min"});
  ASSERT_EQ(made.code, 0) << made.err;
  const Ended planned = run({"plan", path("lan.yaml"), "--set", "stop.rounds=5"});
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_NE(read("lan.yaml").find("- { host: ben, count: 1 }"), std::string::npos);
}

TEST_F(Init, WhatCannotBeIsSaidAndNothingIsWritten) {
  EXPECT_NE(refusal({"--data", "nowhere.csv", "--machines", "2", "--goal", "5 rounds"})
                .find("no such file or folder: nowhere.csv"),
            std::string::npos);
  EXPECT_NE(
      refusal({"--data", "digits", "--machines", "0", "--goal", "5 rounds"}).find("--machines"),
      std::string::npos);
  EXPECT_NE(refusal({"--data", "digits", "--machines", "a b;rm", "--goal", "5 rounds"})
                .find("--machines"),
            std::string::npos);
  EXPECT_NE(refusal({"--data", "digits", "--machines", "2", "--goal", "soon"}).find("--goal"),
            std::string::npos);
  std::ofstream(path("y.csv")) << "a,b\n1,2.5\n2,4.25\n3,6.1\n";
  EXPECT_NE(refusal({"--data", path("y.csv"), "--machines", "2", "--goal", "accuracy 0.9"})
                .find("no accuracy"),
            std::string::npos);
  EXPECT_NE(refusal({"--data", path("y.csv"), "--target", "c", "--machines", "2", "--goal", "1 s"})
                .find("no column `c`"),
            std::string::npos);
}

TEST_F(Init, NoFileIsWrittenOver) {
  std::ofstream(path("mine.yaml")) << "mine";
  const Ended ended = run({"init", path("mine.yaml"), "--data", "digits"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(read("mine.yaml"), "mine");
}

TEST(Explain, AKeyItsChildrenAndANearMiss) {
  const Ended one = run({"explain", "train.optimizer.momentum"});
  EXPECT_EQ(one.code, 0);
  EXPECT_NE(one.output().find("  default  0; muon 0.95\n"), std::string::npos) << one.output();
  const Ended group = run({"explain", "data.partition"});
  EXPECT_NE(group.output().find("below it:"), std::string::npos);
  EXPECT_NE(group.output().find("data.partition.alpha"), std::string::npos);
  EXPECT_NE(run({"explain", "lr"}).output().find("train.optimizer.lr\n"), std::string::npos);
  const Ended miss = run({"explain", "topolgy"});
  EXPECT_EQ(miss.code, 2);
  EXPECT_NE(miss.err.find("did you mean `topology`?"), std::string::npos) << miss.err;
  EXPECT_GT(run({"explain", "--json"}).summary().at("keys").size(), 150U);
}

TEST(Explain, FitsInto80Columns) {
  for (const char* command :
       {"explain", "explain data", "explain train", "explain topology", "explain faults"})
    for (const std::string& line : grapevine(command).out)
      EXPECT_TRUE(columns_of(line) <= 80 || line.starts_with("  example")) << line;
}

}  // namespace
}  // namespace gv

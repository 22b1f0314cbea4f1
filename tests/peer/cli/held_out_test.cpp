#include <cstdlib>

#include "tests/peer/cli/table_user.h"

namespace gv {
namespace {

/// The samples that no peer trains on, listed for other programs.
class HeldOut : public TableUser {
 protected:
  /// Some answers are wrong because of noise. Every seventh row lacks a value.
  static std::string table() {
    std::string text = "a,b,y\n";
    std::uint32_t state = 7;
    const auto drawn = [&] { return (state = state * 1664525U + 1013904223U) >> 22; };
    for (int r = 0; r < 300; ++r) {
      const std::uint32_t a = drawn(), b = drawn();
      text += fmt::format("{},{},{}\n", r % 7 == 3 ? "n/a" : std::to_string(a), b,
                          a + b + drawn() % 500 > 1250 ? "big" : "small");
    }
    return text;
  }
};

/// Other programs need the rows on which the accuracy of a run was measured.
TEST_F(HeldOut, PythonFindsTheAccuracyOfTheRun) {
  if (std::system("python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "python3 is not installed";
  write("a.csv", table());
  write("check.py",
        "import csv\n"
        "held_out = {int(line['row']) for line in csv.DictReader(open('held-out.csv'))}\n"
        "truth = [line['y'] for line in csv.DictReader(open('a.csv'))]\n"
        "told = {int(line['row']): line['class'] for line in csv.DictReader(open('told.csv'))}\n"
        "answered = [row for row in held_out if told[row]]\n"
        "right = sum(told[row] == truth[row - 1] for row in answered)\n"
        "print(len(held_out), right / len(answered))\n");
  for (const std::string missing : {"mean", "drop"}) {
    const nlohmann::json summary =
        trained("run" + missing,
                "data: { kind: table, file: a.csv, target: y, held_out: 30 %, missing: " + missing +
                    " }\nmodel: softmax\nstop: { rounds: 40 }");
    std::filesystem::remove(path("held-out.csv"));
    const Ended written =
        run({"data", path("run" + missing + ".yaml"), "--held-out", path("held-out.csv")});
    ASSERT_EQ(written.code, 0) << written.err;
    const std::string line = fmt::format(
        "cd '{}' && '{}' predict '{}' a.csv > told.csv 2> said && python3 check.py > checked",
        folder_.path(), grapevine_program(), model("run" + missing));
    ASSERT_EQ(std::system(line.c_str()), 0) << text_of(path("said"));
    std::size_t rows = 0;
    double accuracy = 0;
    std::ifstream(path("checked")) >> rows >> accuracy;
    EXPECT_EQ(rows, missing == "mean" ? 90U : 77U);
    EXPECT_NEAR(accuracy, summary.at("accuracy").get<double>(), 1e-12) << missing;
    EXPECT_LT(accuracy, 1) << "other rows would have another one";
  }
  EXPECT_EQ(run({"data", path("runmean.yaml"), "--held-out", path("held-out.csv")}).code, 2)
      << "no file is written over";
}

TEST_F(HeldOut, OfAFolderItIsThePictures) {
  for (int k = 0; k < 20; ++k)
    write(fmt::format("shots/{}/{}.pgm", k % 2 == 0 ? "day" : "night", k),
          "P5 2 2 255\n" + std::string(4, static_cast<char>('0' + k)));
  const std::string file = fleet(
      "shots-fleet", "data: { kind: images, dir: shots, held_out: 20 % }\nstop: { rounds: 2 }");
  ASSERT_EQ(run({"data", file, "--held-out", path("held-out.csv")}).code, 0);
  std::istringstream lines(text_of(path("held-out.csv")));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "file");
  int count = 0;
  for (; std::getline(lines, line); ++count)
    EXPECT_TRUE(std::filesystem::is_regular_file(path("shots/" + line))) << line;
  EXPECT_EQ(count, 4);
}

TEST_F(HeldOut, OtherTestSetsAreSaid) {
  const Ended ended = run(
      {"data", fleet("digits", "data: { kind: digits, train: 60, test: 20 }\nstop: { rounds: 2 }"),
       "--held-out", path("held-out.csv")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_TRUE(has(ended.err, "--held-out: the test set of these data")) << ended.err;
}

}  // namespace
}  // namespace gv

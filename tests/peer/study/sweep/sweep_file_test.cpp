#include "peer/study/sweep/plan/sweep_file.h"

#include "tests/peer/study/sweep/sweep_fixture.h"

namespace gv {
namespace {

using SweepFileTest = SweepFolders;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(SweepFileTest, IsReadAsItIsWritten) {
  const SweepPlan p = plan(
      "vary:\n"
      "  method:\n"
      "    gossip: { topology: ring }\n"
      "    sums: { algorithm: all-reduce }\n"
      "seeds: [3, 9]\n"
      "tune: { with: { train.optimizer.lr: { log: [0.01, 0.1] } }, trials: 4, by: random }\n"
      "target: { loss: 0.5, of: local }\n"
      "expect: [\"gossip < sums @ time\"]\n"
      "keep: model\n");
  EXPECT_FALSE(p.file.picture.has_value());
  EXPECT_EQ(p.file.name, "small");
  EXPECT_EQ(p.cells.size(), 2U);
  EXPECT_EQ(p.seeds, (std::vector<std::uint64_t>{3, 9}));
  EXPECT_EQ(p.file.tune->trials, 4U);
  EXPECT_EQ(p.file.target->figure, TargetSpec::Figure::loss);
  EXPECT_EQ(p.file.target->whose, TargetSpec::Whose::local);
  EXPECT_EQ(p.file.expect, std::vector<std::string>{"gossip < sums @ time"});
  EXPECT_TRUE(p.file.keep_models);
}

TEST_F(SweepFileTest, APictureNamesAnAxisOfNumbers) {
  const SweepPlan p = plan(
      "vary: { method: { a-1: { topology: ring }, b-20: { topology: star } } }\n"
      "picture: { x: method, name: steps, y: speed-up, model: true }\n");
  ASSERT_TRUE(p.file.picture.has_value());
  EXPECT_EQ(p.file.picture->x, "method");
  EXPECT_EQ(p.file.picture->name, "steps");
  EXPECT_EQ(p.file.picture->y, "speed-up");
  EXPECT_TRUE(p.file.picture->model);
}

/// The reader looks up exactly the keys that have a row.
TEST_F(SweepFileTest, TheReferenceHasTheReadersKeys) {
  write("all.yaml",
        "version: 1\nbase: base.yaml\nvary: { peers: [4, 8] }\ntarget: { loss: 0.5 }\n"
        "tune: { with: { train.optimizer.lr: { log: [0.01, 0.1] } } }\n"
        "picture: { x: peers }\n");
  Source source(path("all.yaml"));
  read_sweep_file(source);
  std::set<std::string> asked{"sweep"}, rows;
  for (std::string key : source.asked_keys()) {
    if (key.starts_with("target.")) continue;  // keys of a fleet file's `stop.target`
    if (const auto at = key.find("train.optimizer.lr"); at != std::string::npos)
      key.replace(at, 18, "KEY");
    asked.insert("sweep." + key);
  }
  for (const KeyRow& row : sweep_file_keys()) rows.insert(row.key);
  EXPECT_EQ(asked, rows);
}

struct BadSweep {
  const char* name;
  const char* text;
  int line;  ///< relative to the head; 0 is the first line of the file
  const char* says;
};

class BadSweeps : public SweepFolders, public testing::WithParamInterface<BadSweep> {};

TEST_P(BadSweeps, AreRefusedWithTheirPlace) {
  const std::string text = refusal(GetParam().text);
  EXPECT_TRUE(has(text, GetParam().says)) << text;
  const int line = GetParam().line == 0 ? 1 : head_lines + GetParam().line;
  EXPECT_TRUE(has(text, "sweep.yaml:" + std::to_string(line) + ":")) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Files,
    BadSweeps,
    testing::Values(
        BadSweep{"UnknownKey", "sedes: 3\n", 1, "did you mean `seeds`?"},
        BadSweep{"UnknownAxisKey", "vary: { train.optimizer.lrr: [0.1, 1] }\n", 1,
                 "unknown key `lrr` in `train.optimizer`"},
        BadSweep{"UnknownKeyInPatch", "vary:\n  method:\n    a: { topolgy: ring }\n", 3,
                 "did you mean `topology`?"},
        BadSweep{"TwoAxesOneKey",
                 "vary:\n  a: { x: { topology: ring } }\n  topology: [ring, star]\n", 3,
                 "axes `a` and `topology` both set `topology`"},
        BadSweep{"LogFromZero",
                 "target: { loss: 1 }\ntune: { with: { train.optimizer.lr: { log: [0, 1] } } }\n",
                 2, "a `log` range begins above 0"},
        BadSweep{"EmptyRange",
                 "target: { loss: 1 }\ntune: { with: { train.optimizer.lr: { lin: [2, 1] } } }\n",
                 2, "this range is empty"},
        BadSweep{"RangeBeyondTheKeys",
                 "target: { loss: 1 }\n"
                 "tune: { with: { train.optimizer.momentum: { lin: [0.1, 3] } } }\n",
                 2, "3 is out of range"},
        BadSweep{"GridBeyondItsTrials",
                 "target: { loss: 1 }\n"
                 "tune: { with: { train.optimizer.lr: [0.01, 0.03, 0.1], train.batch: [8, 16] },\n"
                 "        trials: 5, by: grid }\n",
                 3, "the lists make a grid of 6 points, for 5 trials"},
        BadSweep{"VariedAndTuned",
                 "vary: { train.optimizer.lr: [0.1, 1] }\ntarget: { loss: 1 }\n"
                 "tune: { with: { train.optimizer.lr: { log: [0.1, 1] } } }\n",
                 3, "is set by the axis `train.optimizer.lr` and tuned, too"},
        BadSweep{"ObjectionOfTheMethod",
                 "vary:\n  method:\n    a: { algorithm: d2 }\n    b: { algorithm: d2, topology: "
                 "complete, weights: 3 }\n",
                 3, "lambda_n"},
        BadSweep{"SkipOfNoAxis", "vary: { topology: [ring, star] }\nskip: [{ graph: ring }]\n", 2,
                 "no axis is called `graph`"},
        BadSweep{"SkipOfNoValue", "vary: { topology: [ring, star] }\nskip: [{ topology: stars }]\n",
                 2, "did you mean `star`?"},
        BadSweep{"NothingLeft", "vary: { topology: [ring] }\nskip: [{ topology: ring }]\n", 0,
                 "no cell is left"},
        BadSweep{"VariedSeed", "vary: { seed: [1, 2] }\n", 1, "write `seeds: 6`"},
        BadSweep{"TheSameSeedTwice", "seeds: [1, 2, 1]\n", 1, "seed 1 is listed twice"},
        BadSweep{"TwoTargets", "target: { loss: 1, accuracy: 0.5 }\n", 1, "expected one target"},
        BadSweep{"Alias", "vary: { topology: *x }\n", 1, "not valid YAML"},
        BadSweep{"ScalarAxis", "vary: { topology: ring }\n", 1,
                 "expected the values of `topology`"},
        BadSweep{"PictureOfNoAxis", "vary: { peers: [2, 4] }\npicture: { x: peer }\n", 2,
                 "`peer` is no axis of `vary`"},
        BadSweep{"PictureOfWords", "vary: { topology: [ring, star] }\npicture: { x: topology }\n",
                 2, "`ring` of the axis `topology` is not a number with a known unit"},
        BadSweep{"PictureWithoutX", "vary: { peers: [2, 4] }\npicture: { y: time }\n", 2,
                 "missing key `x`"},
        BadSweep{"PictureOfNoMeasure", "vary: { peers: [2, 4] }\npicture: { x: peers, y: tim }\n",
                 2, "did you mean `time`?"},
        BadSweep{"ParallelSimulation", "parallel: 3\n", 1, "`parallel` needs `in: run`"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(SweepFileTest, AllProblemsAreSaidAtOnce) {
  const std::string text =
      refusal("sedes: 3\nin: cloud\ntarget: { accuracy: 2 }\nvary: { topology: [] }\n");
  EXPECT_TRUE(has(text, "4 errors in")) << text;
}

/// A bad value in ten cells is one problem.
TEST_F(SweepFileTest, WhatCellsHaveInCommonIsSaidOnce) {
  const std::string text =
      refusal("vary: { train.optimizer.lr: [0.1, 0.2, 0.3, 0.4, 0.5], topology: [ring, rong] }\n");
  EXPECT_TRUE(has(text, "1 error in")) << text;
}

TEST_F(SweepFileTest, AMissingBaseIsNamed) {
  write("sweep.yaml", "version: 1\nbase: nowhere.yaml\n");
  try {
    plan_sweep(path("sweep.yaml"));
    FAIL();
  } catch (const FleetError& error) {
    EXPECT_TRUE(has(error.what(), "nowhere.yaml: there is no such file")) << error.what();
    EXPECT_TRUE(has(error.what(), "sweep.yaml:2:7")) << error.what();
  }
}

TEST_F(SweepFileTest, ATargetNeedsEvaluations) {
  write("base.yaml", std::string(base).substr(0, std::string(base).find("evaluate")));
  EXPECT_TRUE(has(refusal("target: { loss: 1 }\n"), "a target needs evaluations during the run"));
}

TEST_F(SweepFileTest, ProgramsTrainInRealRunsAlone) {
  write("base.yaml",
        "version: 1\nname: mine\nprogram: [python3, train.py]\npeers: 4\ntopology: ring\n"
        "stop: { rounds: 10 }\n");
  const std::string why = refusal("vary: { topology: [ring, complete] }\n");
  EXPECT_TRUE(has(why, "add `in: run` to the sweep file")) << why;
  write("sweep.yaml",
        "version: 1\nbase: base.yaml\nin: run\nvary: { topology: [ring, complete] }\n");
  EXPECT_EQ(plan_sweep(path("sweep.yaml")).cells.size(), 2U);
}

}  // namespace
}  // namespace gv

#include <filesystem>

#include "peer/fleet/json/json.h"
#include "tests/peer/study/sweep/trial_fixture.h"
#include "tests/text_of.h"

// Promoted trials continue from the checkpoints of the previous rung.

namespace gv {
namespace {

namespace fs = std::filesystem;

/// Returns the files of a trial by name, without those that hold times or the way it was made.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    if (!entry.is_regular_file() || name == "run.json" || name == "trial.json" ||
        name.find("checkpoints") != std::string::npos)
      continue;
    files[name] = text_of(entry.path());
  }
  return files;
}

class Promotions : public TrialJobs {
 protected:
  /// Returns the rung that gets `fraction` of the rounds, after `before`.
  static TrialJob rung(TrialJob job, double fraction, const std::string& before) {
    job.fraction = fraction;
    job.goes_on_from = before;
    job.keeps_state = fraction < 1;
    job.keep_model = true;
    return job;
  }
  static std::uint64_t from_round(const std::string& folder) {
    const JsonValue json = parse_json(text_of(folder + "/trial.json"), folder);
    return json_integer<std::uint64_t>(json, "from_round");
  }
  static void expect_same(const std::string& one, const std::string& other) {
    const auto files = files_of(one);
    const auto others = files_of(other);
    EXPECT_GT(files.size(), 3U);
    EXPECT_TRUE(files.contains("metrics.jsonl"));
    for (const auto& [name, text] : files) {
      ASSERT_TRUE(others.contains(name)) << name;
      EXPECT_EQ(others.at(name) == text, true) << name << " differs: " << text.substr(0, 2000);
    }
    EXPECT_EQ(files.size(), others.size());
  }
};

class PromotionsOf : public Promotions, public testing::WithParamInterface<const AlgorithmRow*> {
 protected:
  TrialJob job(const std::string& name) const {
    return example_job(*GetParam(), name, {"network.latency=3 ms"});
  }
};

/// Over three rungs, metrics, summary, model and each peer's times have the same bytes as without a
/// break.
TEST_P(PromotionsOf, ASynchronousMethodEndAsWithoutABreak) {
  run(rung(job("whole"), 1, ""));
  run(rung(job("two-thirds"), 2.0 / 3, ""));
  run(rung(job("r0"), 1.0 / 3, ""));
  run(rung(job("r1"), 2.0 / 3, path("r0")));
  run(rung(job("r2"), 1, path("r1")));
  EXPECT_EQ(from_round(path("r1")), 4U);
  EXPECT_EQ(from_round(path("r2")), 8U);
  expect_same(path("two-thirds"), path("r1"));
  expect_same(path("whole"), path("r2"));
}

INSTANTIATE_TEST_SUITE_P(EveryRow, PromotionsOf, testing::ValuesIn(synchronous_rows()), row_name);

/// Covers samples from servers, momentum, a changing rate and a shuffled data set.
TEST_F(Promotions, KeepAllThatTrainingNeeds) {
  write("fleet.yaml",
        "version: 1\nname: small\nseed: 5\npeers: 3\n"
        "data: { kind: blobs, train: 90, test: 30, features: 4, classes: 3, servers: 1 }\n"
        "model: softmax\n"
        "train: { optimizer: { kind: adam, lr: 0.05, schedule: cosine }, batch: 7 }\n"
        "stop: { rounds: 12 }\nevaluate: { every: 4 rounds }\n");
  run(rung(job_of_file("fleet.yaml", "whole", {}), 1, ""));
  run(rung(job_of_file("fleet.yaml", "r0", {}), 1.0 / 3, ""));
  run(rung(job_of_file("fleet.yaml", "r1", {}), 1, path("r0")));
  EXPECT_EQ(from_round(path("r1")), 4U);
  expect_same(path("whole"), path("r1"));
}

/// Evaluations are so rare that two rungs end with the same one.
TEST_F(Promotions, OfARungThatIsAsLongTakeItAsItIs) {
  const std::vector<std::string> sets{"evaluate.every=30 rounds"};
  run(rung(job_of_file("base.yaml", "whole", sets), 1, ""));
  run(rung(job_of_file("base.yaml", "r0", sets), 1.0 / 9, ""));
  run(rung(job_of_file("base.yaml", "r1", sets), 1.0 / 3, path("r0")));
  run(rung(job_of_file("base.yaml", "r2", sets), 1, path("r1")));
  expect_same(path("r0"), path("r1"));
  EXPECT_EQ(from_round(path("r2")), 30U);
  expect_same(path("whole"), path("r2"));
}

/// If the checkpoints are damaged in any way, the trial restarts and reports this.
TEST_F(Promotions, BeginAnewWhereTheyCannotGoOn) {
  run(rung(job_of_file("base.yaml", "whole", {}), 1, ""));
  run(rung(job_of_file("base.yaml", "r0", {}), 1.0 / 3, ""));
  const std::string file = path("r0/peers/002/checkpoints/00000020.ckpt");
  ASSERT_TRUE(fs::exists(file));
  fs::resize_file(file, 40);
  EXPECT_NE(
      said_of(rung(job_of_file("base.yaml", "r1", {}), 1, path("r0"))).find("trained in full"),
      std::string::npos);
  EXPECT_EQ(from_round(path("r1")), 0U);
  expect_same(path("whole"), path("r1"));
  EXPECT_NE(
      said_of(rung(job_of_file("base.yaml", "r2", {}), 1, path("nowhere"))).find("trained in full"),
      std::string::npos);
  expect_same(path("whole"), path("r2"));
}

/// Here the result depends on the clock, which restarts with each simulation.
TEST_F(Promotions, KeepNothingWhereADeadlinePasses) {
  const std::vector<std::string> sets{"faults.deadline=100 ms", "network.latency=150 ms"};
  run(rung(job_of_file("base.yaml", "r0", sets), 1.0 / 3, ""));
  EXPECT_FALSE(fs::exists(path("r0/peers/000/checkpoints"))) << "nobody may go on from it";
}

}  // namespace
}  // namespace gv

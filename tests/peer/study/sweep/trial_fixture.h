#pragma once

#include <cctype>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "peer/runtime/views.h"
#include "peer/study/sweep/trial_job.h"
#include "tests/peer/study/sweep/sweep_fixture.h"
#include "tests/text_of.h"

namespace gv {

/// Trials of a sweep that run in this process.
class TrialJobs : public SweepFolders {
 protected:
  /// Returns a trial of the method's own example: twelve rounds, evaluated after every fourth.
  TrialJob example_job(const AlgorithmRow& row,
                       const std::string& name,
                       std::vector<std::string> sets) const {
    write("fleet.yaml", small_example(row));
    sets.insert(sets.end(),
                {"network.bandwidth=100 Mbit", "stop={rounds: 12}", "evaluate.every=4 rounds"});
    return job_of_file("fleet.yaml", name, std::move(sets));
  }
  /// Returns the row's example on a tenth of the digits, because drawing all would take most of the
  /// time. Made once for each row.
  static const std::string& small_example(const AlgorithmRow& row) {
    static std::map<const AlgorithmRow*, std::string> made;
    const auto [at, is_new] = made.try_emplace(&row);
    if (!is_new) return at->second;
    const std::string_view all = "train: 4000, test: 1000";
    at->second = example_fleet(row);
    if (const std::size_t digits = at->second.find(all); digits != std::string::npos)
      at->second.replace(digits, all.size(), "train: 400, test: 100");
    return at->second;
  }
  TrialJob job_of_file(const std::string& file,
                       const std::string& name,
                       std::vector<std::string> sets) const {
    TrialJob job;
    job.slot.folder = name;
    job.file = path(file);
    job.sets = std::move(sets);
    job.identity = identity_of(read_fleet(job.file, job.sets, nullptr));
    job.working = path("working-" + name);
    job.final_folder = path(name);
    return job;
  }
  /// Returns the message of a finished trial.
  static std::string said_of(const TrialJob& job) {
    const TrialOutcome outcome = run_trial(job, "", "test", [](std::uint64_t, std::uint64_t) {});
    EXPECT_TRUE(outcome.done) << outcome.message;
    return outcome.message;
  }
  static void run(const TrialJob& job) { EXPECT_EQ(said_of(job), ""); }
};

/// If peers help each other, the clock decides which peer computes what, and so each peer's
/// training loss.
inline std::vector<const AlgorithmRow*> synchronous_rows() {
  std::vector<const AlgorithmRow*> rows;
  for (const AlgorithmRow* row : algorithms())
    if (row->synchronous && !row->hands_samples) rows.push_back(row);
  return rows;
}

inline std::string row_name(const testing::TestParamInfo<const AlgorithmRow*>& row) {
  std::string name;
  for (const char c : fmt::format("{} {}", row.param->kind, row.param->order))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return name;
}

}  // namespace gv

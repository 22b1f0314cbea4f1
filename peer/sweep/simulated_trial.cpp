#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/launch/run_record.h"
#include "peer/launch/simulated_run.h"
#include "peer/report/metrics.h"
#include "peer/runtime/exit_code.h"
#include "peer/sim/simulation.h"
#include "peer/sweep/replay.h"
#include "peer/sweep/trial_job.h"

namespace gv {
namespace {

/// Writes the metrics of a trial, and says when there is no more to be seen.
class TrialWatch {
 public:
  TrialWatch(const Assembly& fleet, const RunFolder& folder, double fraction)
      : until_(rounds_in(fraction,
                         fleet.rounds,
                         fleet.fleet.evaluate_period > Time{0} ? 1 : fleet.evaluate_every)),
        cut_(until_ < fleet.rounds),
        metrics_(folder.file("metrics.jsonl")) {}

  void record(const FleetRecord& record) {
    if (over_) return;
    metrics_ << evaluate_line(record) << '\n' << std::flush;
    last_ = record;
    if (!std::isfinite(record.mean.loss) || !std::isfinite(record.train_loss))
      diverged_ = record.round;
    over_ = diverged_ || (cut_ && record.round >= until_);
  }

  /// Whatever is still computed is not looked at any more.
  bool over() const { return over_; }
  bool cut() const { return cut_ && over_; }
  const std::optional<Round>& diverged() const { return diverged_; }
  const FleetRecord& last() const { return last_.value(); }

  void finish(const std::string& summary) {
    metrics_ << summary << '\n' << std::flush;
    if (!metrics_) throw std::runtime_error("metrics.jsonl cannot be written (is the disk full?)");
  }

 private:
  Round until_;
  bool cut_;  ///< it ends before its last round
  std::ofstream metrics_;
  std::optional<FleetRecord> last_;
  std::optional<Round> diverged_;
  bool over_ = false;
};

int code_of(const SimulationResult& result) {
  if (!result.violations.empty()) return exit_code::check_failed;
  return result.lost.empty() && result.broken_by.empty() ? exit_code::done : exit_code::peers_lost;
}

struct Trained {
  FleetRecord end;
  FinalHashes hashes;
  int code = exit_code::done;
  std::optional<Round> diverged;
  bool deadline_passed = false;
};

Trained train(const Assembly& fleet,
              const TrialJob& job,
              const RunFolder& folder,
              TrialWatch& watch,
              Observer& observer,
              const TrialProgress& progress) {
  std::atomic<bool> record_failed = false;
  SimulationOptions options;
  options.on_life = life_writer(fleet, folder, record_failed);
  options.threads = 1;
  options.interrupted = [&] { return watch.over(); };
  const auto rounds = static_cast<Round>(job.fraction * static_cast<double>(fleet.rounds));
  options.on_progress = [&](Round round, Time) { progress(round, rounds); };
  if (!fleet.fleet.faults.inject.empty()) options.faults = injected_faults(fleet.fleet);
  const SimulationResult result = simulate(fleet, observer, options);
  if (record_failed) throw std::runtime_error("peers/ cannot be written (is the disk full?)");
  const FleetRecord& end = watch.last();
  return {.end = end,
          .hashes = watch.cut() ? FinalHashes{} : observer.hashes(),
          .code = watch.diverged() ? exit_code::failed : code_of(result),
          .diverged = watch.diverged(),
          .deadline_passed = deadline_passed(fleet, end)};
}

}  // namespace

TrialOutcome simulate_trial(const TrialJob& job,
                            const std::string& version,
                            const TrialProgress& progress) {
  const auto began = std::chrono::steady_clock::now();
  Fleet spec = read_fleet(job.file, job.sets, nullptr);
  spec.output_dir = job.working;
  const Assembly fleet(std::move(spec));
  const RunFolder folder = begin_run(
      fleet,
      {.kind = "simulate", .file = job.file, .sets = job.sets, .version = version, .resumed = {}});
  const auto ended = [&](std::optional<Round> diverged, bool late, bool replayed) {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
    return TrialEnd{.identity = job.identity,
                    .sets = job.sets,
                    .fraction = job.fraction,
                    .diverged = diverged,
                    .deadline_passed = late,
                    .replayed = replayed,
                    .wall_seconds = wall.count()};
  };
  if (!job.replay_of.empty()) {
    if (const auto replay = replay_clock(fleet, job.replay_of)) {
      write_whole(folder.file("metrics.jsonl"), replay->metrics);
      publish_trial(job, ended({}, false, true), replay->summary);
      return {true, ""};
    }
  }
  TrialWatch watch(fleet, folder, job.fraction);
  Observer observer(fleet.fleet.size(), fleet.evaluator(), [&](const FleetRecord& record) {
    watch.record(record);
  });
  const Trained trained = train(fleet, job, folder, watch, observer, progress);
  Json summary = simulated_summary(fleet, trained.end, trained.hashes);
  if (!watch.cut()) add_target(summary, fleet, observer);
  summary["exit_code"] = trained.code;
  if (trained.code == exit_code::check_failed) return {false, "the simulation broke a rule"};
  watch.finish(summary.dump());
  if (job.keep_model && !watch.cut())
    write_safetensors(folder.file("model.safetensors"),
                      fleet.parameters,
                      observer.mean_model(),
                      {{"fleet", fleet.fleet.name}, {"rounds", std::to_string(trained.end.round)}});
  publish_trial(job, ended(trained.diverged, trained.deadline_passed, false), summary.dump());
  return {true, job.replay_of.empty() ? "" : "trained in full: a deadline passes on this network"};
}

}  // namespace gv

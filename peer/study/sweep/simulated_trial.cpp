#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "optim/unknown_figure.h"
#include "peer/fleet/json/fields.h"
#include "peer/launch/run/best_model.h"
#include "peer/launch/run/resume.h"
#include "peer/launch/run/run_meter.h"
#include "peer/launch/run/run_record.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/record/report/metrics.h"
#include "peer/runtime/exit_code.h"
#include "peer/runtime/save_model.h"
#include "peer/sim/blank_replica.h"
#include "peer/sim/simulation.h"
#include "peer/study/simulated_run.h"
#include "peer/study/sweep/trial_job.h"

namespace gv {
namespace {

/// Writes the metrics of a trial, and decides when it can end.
class TrialWatch {
 public:
  /// `until`: round of the last evaluation. `before`: lines of earlier rounds.
  TrialWatch(const Assembly& fleet,
             const RunFolder& folder,
             Round until,
             const std::string& before = "")
      : until_(until), cut_(until < fleet.rounds), metrics_(folder.file("metrics.jsonl")) {
    metrics_ << before;
  }

  void record(const FleetRecord& record) {
    if (over_) return;
    metrics_ << evaluate_line(record) << '\n' << std::flush;
    last_ = record;
    if (!std::isfinite(record.mean.loss) || has_diverged(record.train_loss))
      diverged_ = record.round;
    over_ = diverged_ || (cut_ && record.round >= until_);
  }

  /// Returns true if the rest of the simulation does not matter.
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
  bool cut_;  ///< the trial ends before its last round
  std::ofstream metrics_;
  std::optional<FleetRecord> last_;
  std::optional<Round> diverged_;
  bool over_ = false;
};

int code_of(const SimulationResult& result) {
  if (!result.violations.empty()) return exit_code::check_failed;
  return result.whole() ? exit_code::done : exit_code::peers_lost;
}

/// The results of the same trial in the previous rung.
struct EarlierRung {
  std::string lines;  ///< evaluations
  Round round = 0;    ///< round of the last evaluation
  std::vector<Checkpoint> checkpoints;
};

EarlierRung read_rung(const Assembly& fleet, const std::string& path) {
  EarlierRung rung;
  std::ifstream in(path + "/metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    const JsonValue json = parse_json(line, path);
    if (json_text(json, "event") != "evaluate") continue;
    rung.round = json_integer<Round>(json, "round");
    rung.lines += line + "\n";
  }
  rung.checkpoints = checkpoints_of(fleet, RunFolder::open(path), rung.round);
  return rung;
}

/// Runs one trial into its folder: by replaying the clock, by resuming from the previous rung, or
/// from the beginning.
class SimulatedTrial {
 public:
  SimulatedTrial(const TrialJob& job,
                 const Assembly& fleet,
                 const RunFolder& folder,
                 const std::string& version,
                 const TrialProgress& progress)
      : job_(job),
        fleet_(fleet),
        folder_(folder),
        version_(version),
        progress_(progress),
        until_(rounds_in(job.fraction,
                         fleet.rounds,
                         fleet.fleet.evaluate_period > Time{0} ? 1 : fleet.evaluate_every)),
        kept_(fleet.fleet.size(), job.keeps_state ? until_ : 0) {}

  TrialOutcome run(TrialEnd& end, std::string& summary) {
    if (!job_.replay_of.empty() && replay(job_.replay_of, summary)) {
      end.replayed = true;
      return {true, ""};
    }
    std::string why = job_.replay_of.empty() ? "" : "a deadline passes on this network";
    if (!job_.goes_on_from.empty() && go_on(end, summary, why)) return {true, ""};
    const Trained trained = train({}, "");
    if (trained.code == exit_code::check_failed) return {false, "the simulation broke a rule"};
    end.diverged = trained.diverged;
    end.deadline_passed = trained.deadline_passed;
    summary = trained.summary;
    return {true, why.empty() ? "" : "trained in full: " + why};
  }

 private:
  struct Trained {
    std::string summary;
    int code = exit_code::done;
    std::optional<Round> diverged;
    bool deadline_passed = false;
  };

  std::function<void(const Recorder&, std::uint64_t)> life_writer() {
    return gv::life_writer(fleet_, folder_, record_failed_);
  }

  void check_record() const {
    if (record_failed_) throw std::runtime_error("peers/ cannot be written (is the disk full?)");
  }

  bool replay(const std::string& trained, std::string& summary, bool record = false) {
    const auto replay = replay_clock(fleet_, trained, record ? life_writer() : nullptr);
    if (!replay) return false;
    check_record();
    write_whole(folder_.file("metrics.jsonl"), replay->metrics);
    summary = replay->summary;
    return true;
  }

  /// Trains the remaining rounds, and then takes all times and bytes from a replay of the whole
  /// trial, because a resumed simulation begins at time 0 with all peers in step. Returns false if
  /// the trial must start again, with the reason in `why`.
  bool go_on(TrialEnd& end, std::string& summary, std::string& why) {
    EarlierRung rung;
    try {
      rung = read_rung(fleet_, job_.goes_on_from);
    } catch (const std::runtime_error& gone) {
      why = fmt::format("the previous rung cannot be continued: {}", gone.what());
      return false;
    }
    end.from_round = rung.round;
    if (rung.round == until_) {  // both rungs end with the same evaluation
      for (Checkpoint& each : rung.checkpoints)
        kept_.take(each.peer, each.round, std::move(each.state));
      keep_state();
      return replay(job_.goes_on_from, summary, true);
    }
    const Trained trained = train(std::move(rung.checkpoints), rung.lines);
    if (trained.code == exit_code::done && replay(folder_.path(), summary, true)) return true;
    end.from_round = 0;
    why = trained.diverged ? "it diverges" : "a deadline passes";
    return false;
  }

  Trained train(std::vector<Checkpoint> from, const std::string& lines) {
    TrialWatch watch(fleet_, folder_, until_, lines);
    Observer observer(fleet_.fleet.size(), fleet_.evaluator(),
                      [&](const FleetRecord& record) { watch.record(record); });
    SimulationOptions options;
    if (from.empty()) options.on_life = life_writer();
    options.threads = 1;
    options.resume = std::move(from);
    options.recalled.records = records_in(lines);
    options.keep = kept_.round();
    if (options.keep > 0)
      options.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
        kept_.take(i, round, std::move(state));
      };
    options.interrupted = [&] { return watch.over(); };
    options.on_progress = [&](Round round, Time) { progress_(round, until_); };
    if (!fleet_.fleet.faults.inject.empty()) options.faults = injected_faults(fleet_);
    const SimulationResult result = simulate(fleet_, observer, options);
    check_record();
    const FleetRecord& last = watch.last();
    Trained trained{.summary = {},
                    .code = watch.diverged() ? exit_code::failed : code_of(result),
                    .diverged = watch.diverged(),
                    .deadline_passed = deadline_passed(fleet_, last)};
    Json summary = simulated_summary(fleet_, last, watch.cut() ? FinalHashes{} : observer.hashes());
    if (!watch.cut()) add_target(summary, fleet_, observer);
    summary["exit_code"] = trained.code;
    trained.summary = summary.dump();
    if (trained.code == exit_code::check_failed) return trained;
    watch.finish(trained.summary);
    if (job_.keep_model && !watch.cut())
      save_model(
          folder_.file("model.safetensors"), fleet_, observer.saved_model(),
          {.rounds = observer.best() ? observer.best()->round : last.round, .version = version_});
    if (!trained.diverged && !trained.deadline_passed) keep_state();
    return trained;
  }

  void keep_state() const {
    QuickDisk disk;
    if (kept_.whole()) keep_checkpoints(fleet_, folder_, disk, kept_.checkpoints());
  }

  const TrialJob& job_;
  const Assembly& fleet_;
  const RunFolder& folder_;
  const std::string& version_;
  const TrialProgress& progress_;
  const Round until_;
  KeptRound kept_;
  std::atomic<bool> record_failed_ = false;
};

/// Copies the model figures of a metrics.jsonl line over those of blank models.
void copy_models(const JsonValue& from, FleetRecord& record) {
  FieldReader v(from);
  v("loss", record.mean.loss), v("accuracy", record.mean.accuracy);
  v("loss_local", record.loss_local), v("accuracy_min", record.accuracy_min);
  v("accuracy_max", record.accuracy_max), v("consensus", record.consensus);
}

/// The lines of a run: evaluations and summary.
struct TrainedLines {
  std::vector<JsonValue> evaluations;
  JsonValue summary;
};

TrainedLines read_lines(const std::string& folder) {
  const std::string path = folder + "/metrics.jsonl";
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  TrainedLines lines;
  for (std::string line; std::getline(in, line);) {
    JsonValue json = parse_json(line, path);
    if (json_text(json, "event") == "summary")
      lines.summary = std::move(json);
    else
      lines.evaluations.push_back(std::move(json));
  }
  if (lines.summary.kind != JsonValue::Kind::object)
    throw std::runtime_error(path + ": has no summary");
  return lines;
}

/// Returns the records up to this round and ignores later ones.
std::vector<FleetRecord> clock_of(
    const Assembly& fleet,
    Round until,
    const std::function<void(const Recorder&, std::uint64_t life)>& on_life) {
  std::vector<FleetRecord> records;
  const auto over = [&] {
    return until < fleet.rounds && !records.empty() && records.back().round >= until;
  };
  Observer observer(fleet.fleet.size(), std::make_unique<BlankObjective>(),
                    [&](const FleetRecord& record) {
                      if (!over()) records.push_back(record);
                    });
  SimulationOptions options;
  options.threads = 1;
  options.interrupted = over;
  options.on_life = on_life;
  options.replica = blank_replicas(fleet);
  simulate(fleet, observer, options);
  return records;
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
  TrialEnd end{.identity = job.identity,
               .sets = job.sets,
               .fraction = job.fraction,
               .diverged = {},
               .ended = {},
               .build = version};
  std::string summary;
  const TrialOutcome outcome =
      SimulatedTrial(job, fleet, folder, version, progress).run(end, summary);
  if (!outcome.done) return outcome;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;
  end.wall_seconds = wall.count();
  end.ended = now_text();
  // Trials run concurrently, so the machine's CPU use is not that of this trial.
  add_end(folder, {{"at", end.ended}});
  publish_trial(job, end, summary);
  return outcome;
}

bool clock_stands_alone(const Fleet& fleet) {
  const AlgorithmRow* row = find_algorithm(fleet.algorithm, fleet.order);
  return row != nullptr && has_same_bits(*row, fleet.settings) && !row->hands_samples &&
         fleet.faults.inject.empty() && !fleet.stop.time && !fleet.stop.target &&
         !fleet.data.validates() && fleet.evaluate_period == Time{0};
}

bool deadline_passed(const Assembly& fleet, const FleetRecord& end) {
  const Time deadline = fleet.fleet.faults.deadline;
  return deadline > Time{0} && std::ranges::any_of(end.longest_wait, [&](const auto& peer) {
           return peer.second >= deadline;
         });
}

std::optional<ClockReplay> replay_clock(
    const Assembly& fleet,
    const std::string& trained,
    const std::function<void(const Recorder&, std::uint64_t life)>& on_life) {
  if (!clock_stands_alone(fleet.fleet)) return std::nullopt;
  const TrainedLines lines = read_lines(trained);
  if (lines.evaluations.empty()) return std::nullopt;
  const Round until = json_integer<Round>(lines.evaluations.back(), "round");
  std::vector<FleetRecord> records = clock_of(fleet, until, on_life);
  if (records.size() != lines.evaluations.size()) return std::nullopt;
  if (deadline_passed(fleet, records.back())) return std::nullopt;
  ClockReplay replay;
  for (std::size_t k = 0; k < records.size(); ++k) {
    const JsonValue& line = lines.evaluations[k];
    if (json_integer<Round>(line, "round") != records[k].round ||
        json_integer<PeerId>(line, "peers") != records[k].peers)
      return std::nullopt;
    const bool known = line.find("train_loss") != nullptr;
    records[k].train_loss = known ? json_number(line, "train_loss") : unknown_figure();
    copy_models(line, records[k]);
    replay.metrics += evaluate_line(records[k]) + "\n";
  }
  Json summary = simulated_summary(
      fleet, records.back(),
      {json_text(lines.summary, "params_hash"), json_text(lines.summary, "model_hash")});
  summary["exit_code"] = exit_code::done;
  replay.summary = summary.dump();
  replay.metrics += replay.summary + "\n";
  return replay;
}

}  // namespace gv

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/run/run_end.h"
#include "peer/cli/run/swarm_options.h"
#include "peer/cli/this_program.h"
#include "peer/launch/process/stop_signals.h"
#include "peer/launch/run/best_model.h"
#include "peer/launch/run/resume.h"
#include "peer/launch/run/run_meter.h"
#include "peer/launch/run/run_record.h"
#include "peer/record/disk/posix_disk.h"
#include "peer/record/life/recorder.h"
#include "peer/record/report/culprits.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "peer/record/report/time_shares.h"
#include "peer/record/report/warnings.h"
#include "peer/runtime/views.h"
#include "peer/sim/simulation.h"
#include "peer/study/predict/forecast/advice.h"
#include "peer/study/predict/forecast/expectation.h"
#include "peer/study/simulated_run.h"

namespace gv::cli {
namespace {

/// `last`: the maximum Round if a time ends the run, at virtual time `until`.
std::string progress_text(Round last, Round round, Time until, Time t, double elapsed) {
  const bool endless = last == std::numeric_limits<Round>::max();
  const double rate = elapsed > 0 ? static_cast<double>(round) / elapsed : 0;
  const double done = std::max(static_cast<double>(round) / static_cast<double>(last),
                               until > Time{0} ? in_seconds(t) / in_seconds(until) : 0);
  std::string text = fmt::format("round {}", round);
  if (!endless) text += fmt::format("/{}", last);
  text += fmt::format("  {:.1f} rounds/s  virtual {}", rate, seconds_text(in_seconds(t)));
  if (done <= 0 || (endless && until == Time{0})) return text;
  return text + fmt::format("  {} left", seconds_text(elapsed * std::max(0.0, 1 / done - 1)));
}

/// Prints the fleet's problems on stderr.
void tell(const Assembly& fleet, const SimulationResult& result, const Observer& observer) {
  for (const std::string& violation : result.violations)
    fmt::print(stderr, "violation: {}\n", violation);
  for (const PeerId peer : result.lost) fmt::print(stderr, "peer {} was lost\n", peer);
  for (const PeerId peer : result.broken_by)
    if (does_without_supplier(fleet, peer))
      fmt::print(stderr, "{}\n", supply_ended_text(peer));
    else
      fmt::print(stderr, "without peer {} this algorithm cannot complete a round\n", peer);
  for (const PeerId peer : result.chains_ended) fmt::print(stderr, "{}\n", chain_ended_text(peer));
  const bool ended = result.violations.empty() && !result.interrupted;
  if (!ended) return;
  if (observer.has_no_model())
    return fmt::print(
        stderr, "error: no chain has all its stages any more, so there is no model to save\n");
  if (!observer.summary()) return fmt::print(stderr, "error: no peer finished\n");
  if (!std::isfinite(observer.summary()->mean.loss))
    fmt::print(stderr, "{}\n", loss_not_finite(fleet));
}

/// Returns the exit code. `stopped`: that of the signal that interrupted the simulation, if any.
int verdict(const SimulationResult& result, const Observer& observer, int stopped) {
  if (!result.violations.empty()) return exit_code::check_failed;
  if (result.interrupted) return stopped;
  if (observer.has_no_model()) return exit_code::peers_lost;
  const std::optional<FleetRecord>& end = observer.summary();
  if (!end || !std::isfinite(end->mean.loss)) return exit_code::failed;
  if (!result.whole()) return exit_code::peers_lost;
  return end->sound() ? exit_code::done : exit_code::check_failed;
}

struct SimulateOptions {
  FleetOptions file;
  std::string resume;
  std::uint64_t until = 0;  ///< last round; 0: the fleet's
  int threads = 0;
  bool no_save = false;
  SwarmArguments swarm;
};

/// The point from which a simulation continues.
struct ResumePoint {
  std::vector<Checkpoint> checkpoints;  ///< none at the beginning
  std::string lines;                    ///< lines of metrics.jsonl until then
  Recalled recalled{};                  ///< recalled from these evaluations
  std::optional<ResumedRun> run;
};

ResumePoint resume_point(const Assembly& fleet, const std::string& path) {
  if (path.empty()) return {};
  const RunFolder folder = RunFolder::open(path);
  const Round round = newest_common_round(fleet, folder);
  ResumePoint point{.checkpoints = checkpoints_of(fleet, folder, round),
                    .lines = {},
                    .run = ResumedRun{.run = path, .round = round, .whole = is_whole(folder)}};
  std::vector<Costs> costs;
  for (const Checkpoint& past : point.checkpoints) costs.push_back(costs_at_end(past.state));
  point.lines = earlier_metrics(fleet, folder, round, fleet.rounds, costs);
  point.recalled = recalled(fleet, folder, point.lines);
  return point;
}

/// Output of a simulation: on the screen, and in its folder if it has one.
class Lines {
 public:
  /// `earlier`: lines of the run that it continues.
  Lines(const Assembly& fleet,
        std::optional<RunFolder> folder,
        const std::string& earlier,
        bool json)
      : test_(fleet.looked_at().get()), folder_(std::move(folder)), json_(json) {
    if (folder_) metrics_.open(folder_->file("metrics.jsonl"));
    metrics_ << earlier << std::flush;
    if (!json_)
      fmt::print("{}\n",
                 table_header(test_, fleet.validation != nullptr, fleet.fleet.agent.has_value()));
  }

  void record(const FleetRecord& record) {
    if (folder_) metrics_ << evaluate_line(record) << std::endl;
    progress_.clear();
    fmt::print("{}\n", json_ ? evaluate_line(record) : table_row(record, test_));
    std::fflush(stdout);
    if (loss_rose(record) && !std::exchange(loss_rose_, true))
      fmt::print(stderr, "{}\n", loss_rise_text(record));
  }

  /// Keeps the best model until now. A full disk is reported at the end.
  void keep(const Assembly& fleet, const Observer& observer, Round round) {
    const std::optional<BestModel>& best = observer.best();
    if (!folder_ || !best || best->round != round) return;
    try {
      keep_best(fleet, *folder_, *best, version_text());
    } catch (const std::runtime_error&) {
    }
  }

  ProgressLine& progress() { return progress_; }
  std::string folder() const { return folder_ ? folder_->path() : ""; }

  /// See gv::life_writer; null without a folder.
  std::function<void(const Recorder&, std::uint64_t)> life_writer(const Assembly& fleet) {
    return folder_ ? gv::life_writer(fleet, *folder_, record_failed_) : nullptr;
  }

  /// Saves the run. Returns false, with a message, if the folder could not take everything.
  bool save(const Assembly& fleet, const Observer& observer, const std::string& summary) {
    if (!folder_) return true;
    try {
      if (!metrics_) throw std::runtime_error("metrics.jsonl cannot be written");
      if (record_failed_) throw std::runtime_error("peers/ cannot be written");
      end_run(fleet, *folder_, observer, observer.saved_model(), summary, version_text());
      add_end(*folder_, meter_.end());
      return true;
    } catch (const std::runtime_error& full) {
      fmt::print(stderr,
                 "error: the run is not saved: {}\nhelp:  free some space, or simulate with "
                 "--no-save\n",
                 full.what());
      return false;
    }
  }

  /// Writes the summary of a run that could not be saved. Ignores a further error, because the
  /// first one was reported.
  void end_unsaved(const std::string& summary) {
    if (!folder_) return;
    try {
      gv::end_unsaved(*folder_, summary);
    } catch (const std::runtime_error&) {
    }
  }

  /// Keeps the checkpoints of the round at which it was to stop; after a signal only a full set.
  bool keep(const Assembly& fleet, const KeptRound& kept, bool stopped) {
    if (!folder_ || kept.round() == 0 || (stopped && !kept.whole())) return true;
    if (!kept.whole()) {
      fmt::print(stderr,
                 "error: not every peer got to the end of round {}, so there is no checkpoint\n",
                 kept.round());
      return false;
    }
    PosixDisk disk;
    keep_checkpoints(fleet, folder_.value(), disk, kept.checkpoints());
    return true;
  }

  void name_folder(bool goes_on) const {
    if (!folder_) return;
    fmt::print(json_ ? stderr : stdout, "saved      {}\n", folder_->path());
    if (goes_on)
      fmt::print(json_ ? stderr : stdout, "resume with grapevine simulate --resume {}\n",
                 shell_path(folder_->path()));
  }

 private:
  const Dataset* test_;
  std::optional<RunFolder> folder_;
  bool json_;
  RunMeter meter_;
  std::ofstream metrics_;
  bool loss_rose_ = false;                   ///< and this was reported
  std::atomic<bool> record_failed_ = false;  ///< set by any of the simulation's threads
  ProgressLine progress_;
};

std::optional<RunFolder> folder_for(const Assembly& fleet,
                                    const SimulateOptions& options,
                                    const ResumePoint& from) {
  if (options.no_save) return std::nullopt;
  try {
    RunFolder folder = begin_run(fleet, {.kind = "simulate",
                                         .file = options.file.file,
                                         .sets = options.file.sets,
                                         .version = version_text(),
                                         .resumed = from.run});
    keep_room(folder);
    return folder;
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(
        fmt::format("{}\nhelp:  --no-save simulates without a run folder", e.what()));
  }
}

/// Returns the summary. A simulation that broke a rule has no result for a target.
Json final_json(const Assembly& fleet, const Observer& observer, int code, bool broken) {
  Json summary = simulated_summary(fleet, *observer.summary(), observer.hashes());
  if (!broken) add_target(summary, fleet, observer);
  add_attackers(summary, *fleet.setup);
  summary["exit_code"] = code;
  return summary;
}

/// Prints the end. `folder`: "" if nothing is saved.
void print_end(const Assembly& fleet,
               const Observer& observer,
               const std::string& folder,
               bool stopped) {
  const FleetRecord& end = *observer.summary();
  const std::string text =
      summary_text(end, 0, in_seconds(end.time), observer.hashes(), fleet.looked_at().get());
  fmt::print("{} (virtual time, network {}){}\n", stopped ? as_stopped(text) : text,
             name_of(fleet.fleet.network.shape), expectation_text(expectation(fleet, end), end));
  print_hints(fleet, observer, folder);
}

/// Checks that --until is before the fleet's last round, and after the round it continues from.
void check_until(const Assembly& fleet, const SimulateOptions& given, const ResumePoint& from) {
  if (given.until == 0) return;
  if (given.no_save)
    throw std::invalid_argument(
        "simulate: --until keeps a checkpoint in the run's folder, and --no-save leaves none\n"
        "help:  leave one of the two out; --set stop.rounds=N ends a run without a checkpoint");
  if (given.until >= fleet.rounds)
    throw std::invalid_argument(
        fmt::format("simulate: --until {}: the fleet ends after round {} anyway\n"
                    "help:  --until takes an earlier round",
                    given.until, fleet.rounds));
  if (from.run && given.until <= from.run->round)
    throw std::invalid_argument(
        fmt::format("simulate: --until {}: the run resumes from round {}\n"
                    "help:  --until takes a later round",
                    given.until, from.run->round));
}

/// Ends all peers after the same round and keeps its checkpoint. Peers in very different rounds
/// stop at once instead.
void end_together(const std::vector<Peer*>& peers, KeptRound& kept) {
  constexpr Round most_behind = 16;
  Round first = std::numeric_limits<Round>::max();
  Round last = 0;
  for (Peer* peer : peers) {
    const Round round = peer->halt();
    first = std::min(first, round);
    last = std::max(last, round);
  }
  const bool together = last - first <= most_behind;
  if (together) kept.expect(last);
  for (Peer* peer : peers) together ? peer->end_after(last) : peer->stop();
}

int simulate_fleet(SimulateOptions given) {
  const InterruptWatch interrupts;  // before anything computes
  const Assembly fleet =
      given.resume.empty() ? assemble(given.file) : assemble_again(given.resume, given.file);
  print_warnings(fleet);
  ResumePoint from = resume_point(fleet, given.resume);
  check_until(fleet, given, from);
  Lines lines(fleet, folder_for(fleet, given, from), from.lines, given.file.json);
  Observer observer(fleet.fleet.size(), fleet.evaluator(), [&](const FleetRecord& r) {
    lines.record(r);
    lines.keep(fleet, observer, r.round);
  });
  const auto begin = std::chrono::steady_clock::now();
  SimulationOptions options;
  options.threads = given.threads;
  options.resume = std::move(from.checkpoints);
  options.recalled = std::move(from.recalled);
  KeptRound kept(fleet.fleet.size(), given.until);
  options.until = options.keep = given.until;
  options.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
    kept.take(i, round, std::move(state));
  };
  bool stopped = false;
  options.between = [&](const std::vector<Peer*>& peers) {
    if (interrupts.code() != 0 && !std::exchange(stopped, true)) end_together(peers, kept);
  };
  options.on_progress = [&](Round round, Time t) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const Round last = given.until > 0 ? given.until : fleet.rounds;
    const Time until = fleet.fleet.stop.time.value_or(Time{0});
    lines.progress().update(progress_text(last, round, until, t, elapsed.count()));
  };
  options.on_life = lines.life_writer(fleet);
  if (!fleet.fleet.faults.inject.empty()) {
    options.faults = injected_faults(fleet);
    options.interrupted = [&] { return interrupts.code() != 0; };
    options.between = {};
  }
  SimulationResult result = simulate(fleet, observer, options);
  stopped = result.interrupted = result.interrupted || stopped;
  lines.progress().clear();
  const int ended = verdict(result, observer, interrupts.code());
  if (!observer.summary()) {
    tell(fleet, result, observer);
    return ended;
  }
  // If it stops to be continued, the target is still ahead.
  int code = given.until > 0 ? ended : code_with_target(ended, fleet, observer);
  const bool broken = !result.violations.empty();
  std::string summary = final_json(fleet, observer, code, broken).dump();
  const bool saved = lines.save(fleet, observer, summary) && lines.keep(fleet, kept, stopped);
  if (!saved && code == exit_code::done) code = exit_code::not_kept;
  if (!saved) {
    summary = final_json(fleet, observer, code, broken).dump();
    lines.end_unsaved(summary);
  }
  if (given.file.json)
    fmt::print("{}\n", summary);
  else
    print_end(fleet, observer, lines.folder(), stopped);
  if (saved) lines.name_folder(kept.whole());
  tell(fleet, result, observer);
  return code;
}

int run_simulate(const SimulateOptions& options) {
  console::never_wait();
  const bool swarm = !options.swarm.faults.empty();
  if (swarm && options.until > 0)
    throw std::invalid_argument(
        "simulate: --until stops one simulation, and --faults starts many\n"
        "help:  leave one of the two out");
  if (swarm) return run_swarm(options.file, options.swarm);
  if (options.swarm.seed)
    throw std::invalid_argument(
        fmt::format("simulate: --seed {0} replays a fault seed, and needs --faults swarm\n"
                    "help:  --set seed={0} gives the fleet another seed",
                    *options.swarm.seed));
  if (const std::string option = option_of_swarm(options.swarm); !option.empty())
    throw std::invalid_argument(fmt::format("simulate: {} needs --faults swarm", option));
  if (options.file.file.empty() && options.resume.empty())
    throw std::invalid_argument(
        "simulate: FILE, or --resume RUN, is required\n"
        "help:  grapevine simulate --help shows the options");
  return simulate_fleet(options);
}

void simulate_options(Options& options, SimulateOptions& arguments) {
  add_fleet_options(options, arguments.file);
  options.value("--resume", arguments.resume,
                "Resume the run in this folder in virtual time, from its newest checkpoints");
  options
      .value("--until", arguments.until,
             "Round after which to stop and write a checkpoint for --resume")
      .call_values("ROUND");
  options
      .value("--threads", arguments.threads,
             "Number of cores to use; 0: all. Does not change the result")
      .range(0, 1024);
  options.flag("--no-save", arguments.no_save,
               "Write no run folder (default: write it to output.dir)");
  add_swarm_options(options, arguments.swarm);
}

}  // namespace

Command simulate_command() {
  return command("simulate", "Run the fleet of a file in virtual time, reproducibly to the bit",
                 "  grapevine simulate configs/digits-torus16.yaml\n"
                 "  grapevine simulate configs/quadratic-ring16.yaml --set topology=torus --json\n"
                 "  grapevine simulate configs/quadratic-ring16.yaml --set seed=2 --no-save\n"
                 "  grapevine simulate configs/fashion-ring8.yaml --set network.latency=\"5 ms\"\n"
                 "  grapevine simulate configs/fashion-ring8.yaml --until 1000\n"
                 "  grapevine simulate configs/swarm-ring6.yaml --faults swarm --seeds 1..1000\n"
                 "  grapevine simulate --faults swarm --fleets 1..1000\n"
                 "  grapevine simulate configs/iris-ring4.yaml --faults heal",
                 simulate_options, run_simulate);
}

}  // namespace gv::cli

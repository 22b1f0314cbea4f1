#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "peer/cli/fleet_options.h"
#include "peer/cli/swarm_options.h"
#include "peer/launch/resume.h"
#include "peer/predict/forecast/expectation.h"
#include "peer/report/metrics.h"
#include "peer/report/screen.h"
#include "peer/runtime/link_bounds.h"
#include "peer/sim/simulation.h"

namespace gv::cli {
namespace {

std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free);

void on_interrupt(int) {
  if (++interrupts > 1) std::_Exit(exit_code::interrupted);
}

std::string progress_text(const Assembly& fleet, Round round, Time t, double elapsed) {
  const double rate = elapsed > 0 ? static_cast<double>(round) / elapsed : 0;
  const std::string left =
      rate > 0 ? seconds_text(static_cast<double>(fleet.rounds - round) / rate) : std::string("?");
  return fmt::format("round {}/{}  {:.1f} rounds/s  virtual {}  {} left",
                     round,
                     fleet.rounds,
                     rate,
                     seconds_text(in_seconds(t)),
                     left);
}

void print_record(const FleetRecord& record, bool json, ProgressLine& progress) {
  progress.clear();
  fmt::print("{}\n", json ? evaluate_line(record) : table_row(record));
  std::fflush(stdout);
}

/// What the fleet file lets go wrong, with the times by which a real fleet notices.
FaultPlan injections(const Fleet& fleet) {
  FaultPlan plan;
  plan.until = Time::max();
  plan.drawn = false;
  plan.restart = fleet.restart;
  plan.inject = fleet.faults.inject;
  plan.times = link_times(fleet.faults);
  return plan;
}

/// What became of the fleet; `loss` is that of the mean model at the end.
int verdict(const SimulationResult& result, double loss) {
  for (const std::string& violation : result.violations)
    fmt::print(stderr, "violation: {}\n", violation);
  for (const PeerId peer : result.lost) fmt::print(stderr, "peer {} was lost\n", peer);
  for (const PeerId peer : result.broken_by)
    fmt::print(stderr, "without peer {} this algorithm cannot complete a round\n", peer);
  if (!result.violations.empty()) return exit_code::check_failed;
  if (result.interrupted) return exit_code::interrupted;
  if (!std::isfinite(loss)) {
    fmt::print(stderr, "{}\n", loss_not_finite);
    return exit_code::failed;
  }
  const bool whole = result.lost.empty() && result.broken_by.empty();
  return whole ? exit_code::done : exit_code::peers_lost;
}

struct SimulateOptions {
  FleetOptions file;
  std::string resume;
  int threads = 0;
  SwarmArguments swarm;
};

int simulate_fleet(FleetOptions file, const std::string& resume, int threads) {
  const Assembly fleet = resume.empty() ? assemble(file) : assemble_again(resume, file);
  ProgressLine progress;
  if (!file.json) fmt::print("{}\n", table_header());
  warn_of_rate(fleet);
  Observer observer(fleet.fleet.size(), fleet.evaluator(), [&](const FleetRecord& r) {
    print_record(r, file.json, progress);
  });
  std::signal(SIGINT, on_interrupt);
  const auto begin = std::chrono::steady_clock::now();
  SimulationOptions options;
  options.threads = threads;
  if (!resume.empty()) {
    const RunFolder folder = RunFolder::open(resume);
    options.resume = checkpoints_of(fleet, folder, newest_common_round(fleet, folder));
  }
  options.interrupted = [] { return interrupts > 0; };
  options.on_progress = [&](Round round, Time t) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    progress.update(progress_text(fleet, round, t, elapsed.count()));
  };
  if (!fleet.fleet.faults.inject.empty()) options.faults = injections(fleet.fleet);
  const SimulationResult result = simulate(fleet, observer, options);
  progress.clear();
  if (!observer.summary()) throw std::logic_error("the simulation ended without a final record");
  const double seconds = in_seconds(observer.summary()->time);
  const FinalHashes hashes = observer.hashes();
  const FleetRecord& end = *observer.summary();
  const auto expected = expectation(fleet, end);
  const std::string_view shape = name_of(fleet.fleet.network.shape);
  Json summary = summary_json(end, 0, seconds, hashes);
  add_expectation(summary, expected);
  summary["network_shape"] = shape;
  fmt::print("{}\n",
             file.json ? summary.dump()
                       : fmt::format("{} (virtual time, network {}){}",
                                     summary_text(end, 0, seconds, hashes),
                                     shape,
                                     expectation_text(expected, end)));
  return verdict(result, end.mean.loss);
}

int run_simulate(const SimulateOptions& options) {
  if (options.file.file.empty() && options.resume.empty())
    throw std::invalid_argument(
        "simulate: FILE, or --resume RUN, is required\n"
        "help:  grapevine simulate --help shows what there is");
  return options.swarm.faults.empty()
             ? simulate_fleet(options.file, options.resume, options.threads)
             : run_swarm(options.file, options.swarm);
}

void simulate_options(Options& options, SimulateOptions& arguments) {
  add_fleet_options(options, arguments.file);
  options.value("--resume",
                arguments.resume,
                "Go on, in virtual time, with the run of this folder from its newest checkpoints");
  options
      .value("--threads", arguments.threads, "Cores to use; 0: all. Changes no bit of the result")
      .range(0, 1024);
  add_swarm_options(options, arguments.swarm);
}

}  // namespace

Command simulate_command() {
  return command("simulate",
                 "Run the fleet of a file in virtual time, bit for bit",
                 "  grapevine simulate configs/digits-torus16.yaml\n"
                 "  grapevine simulate configs/quadratic-ring16.yaml --set topology=torus --json\n"
                 "  grapevine simulate configs/fashion-ring8.yaml --set network.latency=\"5 ms\"\n"
                 "  grapevine simulate configs/swarm-ring6.yaml --faults swarm --seeds 1..1000",
                 simulate_options,
                 run_simulate);
}

}  // namespace gv::cli

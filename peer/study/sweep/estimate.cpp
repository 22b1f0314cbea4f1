#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "optim/state.h"
#include "peer/record/report/screen.h"
#include "peer/sim/blank_replica.h"
#include "peer/sim/simulation.h"
#include "peer/study/simulated_run.h"
#include "peer/study/sweep/sweep.h"
#include "peer/study/sweep/trial_job.h"

namespace gv {
namespace {

constexpr double measuring_budget = 2;     ///< seconds, all families together
constexpr std::size_t most_measured = 10;  ///< families measured; others use the last measured one
constexpr double worker_overhead = 0.03;   ///< seconds of a trial besides computing

/// Returns the CPU time of all threads of this process.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Mean rounds done by the peers, and the CPU time at that point.
struct Progress {
  double rounds = 0, at = 0;
};

/// Checks the peers so rarely that the cost is negligible.
class ProgressWatch {
 public:
  ProgressWatch(PeerId trainers, double budget) : trainers_(trainers), budget_(budget) {}

  void look(const std::vector<Peer*>& peers) {
    if (looks_++ % (1 + trainers_ / 16) != 0) return;
    double rounds = 0;
    for (PeerId i = 0; i < trainers_; ++i) rounds += static_cast<double>(peers[i]->round);
    last_ = {rounds / trainers_, processor_seconds()};
    if (first_.rounds == 0) first_ = last_;
    if (last_.at - began_ > budget_ && last_.rounds > first_.rounds) throw SeenEnough{};
  }
  double seconds_per_round() const {
    if (last_.rounds > first_.rounds)
      return (last_.at - first_.at) / (last_.rounds - first_.rounds);
    return (last_.at - began_) / std::max(1.0, last_.rounds);
  }

 private:
  PeerId trainers_;
  double budget_;
  std::uint64_t looks_ = 0;
  double began_ = processor_seconds();
  Progress first_{0, began_}, last_{0, began_};
};

/// Returns seconds of one core per round. `blank`: measures only the clock of the simulation,
/// without gradients.
double seconds_per_round(const Assembly& fleet, double budget, bool blank) {
  ProgressWatch watch(fleet.fleet.trainers(), budget);
  SimulationOptions options;
  if (blank) options.replica = blank_replicas(fleet);
  options.between = [&](const std::vector<Peer*>& peers) { watch.look(peers); };
  simulate_blind(fleet, options);
  return watch.seconds_per_round();
}

/// Each peer evaluates its own model, and the fleet evaluates the mean.
double seconds_per_evaluation(const Assembly& fleet) {
  const std::unique_ptr<Objective> objective = fleet.evaluator();
  const std::vector<float> x(fleet.dimension, 0.01F);
  objective->evaluate(x);
  const double began = processor_seconds();
  objective->evaluate(x);
  return (processor_seconds() - began) * (fleet.fleet.trainers() + 1.0);
}

/// The cost of a trial of one family, on one core.
struct FamilyCost {
  double setup = 0;
  double round = 0;
  double blank_round = 0;
  double evaluation = 0;
  double rounds = 0;
  std::uint64_t evaluate_every = 0;
  double disk = 0;
  double checkpoints = 0;  ///< bytes for one trial
  bool goes_on = false;    ///< later rungs resume and replay the whole clock

  /// Returns the cost of a trial of this fraction of a training, after a rung of `before`.
  double training(double fraction, double before) const {
    const double done = rounds_of(fraction);
    const double past = goes_on && before > 0 ? rounds_of(before) : 0;
    const double every = evaluate_every > 0 ? static_cast<double>(evaluate_every) : rounds;
    return setup + worker_overhead + (done - past) * round + (past > 0 ? done * blank_round : 0) +
           (std::floor((done - past) / every) + 1) * evaluation;
  }
  double rounds_of(double fraction) const {
    const auto all = static_cast<std::uint64_t>(rounds);
    return static_cast<double>(rounds_in(fraction, all, evaluate_every));
  }
  double replay() const { return setup + worker_overhead + rounds * blank_round; }
};

/// Returns the bytes of a trial folder, in whole blocks per file.
double disk_of(const Assembly& fleet, const SweepFile& file) {
  const auto block = [](double bytes) { return std::ceil(bytes / 4096) * 4096; };
  const double evaluations =
      fleet.evaluate_every > 0
          ? static_cast<double>(fleet.rounds) / static_cast<double>(fleet.evaluate_every)
          : 1;
  const double peers = fleet.fleet.size();
  const double summary = 600 + 40 * peers;
  double bytes = block(400 * (evaluations + 1) + summary) + block(summary) + 2 * block(3000);
  bytes += block(static_cast<double>(std::filesystem::file_size(file.base)));
  if (file.keep_models) bytes += block(4.0 * static_cast<double>(fleet.dimension) + 1000);
  return bytes + 4096;
}

/// Returns the bytes of all peers' checkpoints, assuming that all are like the first.
double checkpoints_of(const Assembly& fleet) {
  StateWriter state;
  fleet.host_replica(0)->save(state);
  return static_cast<double>(state.take().size()) * fleet.fleet.size();
}

FamilyCost cost_of(const SweepPlan& plan, const SweepFamily& family, double budget) {
  const double began = processor_seconds();
  const std::vector<std::string> sets = plan.sets_of(family.cells[0], {}, plan.seeds[0]);
  const Assembly fleet(read_fleet(plan.file.base, sets, nullptr));
  FamilyCost cost;
  cost.setup = processor_seconds() - began;
  const bool endless = fleet.rounds == std::numeric_limits<Round>::max();
  cost.rounds = endless ? 0 : static_cast<double>(fleet.rounds);
  cost.evaluate_every = fleet.evaluate_every;
  cost.disk = disk_of(fleet, plan.file);
  if (!plan.file.simulated || endless) return cost;
  cost.round = seconds_per_round(fleet, 0.8 * budget, false);
  cost.evaluation = seconds_per_evaluation(fleet);
  cost.goes_on = clock_stands_alone(fleet.fleet);
  const bool rungs = !family.brackets.empty() && family.brackets[0].rungs.size() > 1;
  if (cost.goes_on && rungs) cost.checkpoints = checkpoints_of(fleet);
  if (family.synchronous && (family.cells.size() > 1 || (cost.goes_on && rungs)))
    cost.blank_round = seconds_per_round(fleet, 0.1 * budget, true);
  return cost;
}

/// Measures some families, evenly spread.
std::vector<FamilyCost> costs_of(const SweepPlan& plan) {
  const std::size_t n = plan.families.size();
  const std::size_t measured = std::min(n, most_measured);
  const double budget = measuring_budget / static_cast<double>(measured);
  std::vector<FamilyCost> costs;
  std::size_t next = 0;
  for (std::size_t f = 0; f < n; ++f) {
    if (f * measured >= next * n) {
      costs.push_back(cost_of(plan, plan.families[f], budget));
      ++next;
    } else {
      costs.push_back(costs.back());
    }
  }
  return costs;
}

/// Returns "8", or "3 to 8" if grids differ in size between families.
std::string trials_text(const SweepPlan& plan) {
  std::vector<std::size_t> trials;
  for (const SweepFamily& family : plan.families)
    if (!family.brackets.empty()) trials.push_back(family.brackets[0].points.size());
  const auto [least, most] = std::ranges::minmax(trials);
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

}  // namespace

SweepEstimate estimate_sweep(const SweepPlan& plan, std::size_t workers, MemoryRoom memory) {
  const double began = processor_seconds();
  const std::vector<FamilyCost> costs = costs_of(plan);
  SweepEstimate estimate;
  estimate.memory = memory;
  estimate.workers = std::min(workers, std::max<std::size_t>(1, plan.slots.size()));
  estimate.measured_seconds = processor_seconds() - began;
  double seconds = 0;
  std::set<std::pair<std::size_t, std::uint64_t>> trained;
  for (const TrialSlot& slot : plan.slots) {
    const FamilyCost& cost = costs[slot.family];
    const bool tunes = slot.stage == TrialSlot::Stage::tune;
    const TuningRung* rung =
        tunes ? &plan.families[slot.family].brackets[slot.bracket].rungs[slot.rung] : nullptr;
    if (tunes && slot.place >= rung->points) continue;  // asha: usually not run
    estimate.disk_bytes += cost.disk;
    if (tunes) {
      estimate.checkpoint_bytes += slot.rung == 0 ? cost.checkpoints : 0;
      const double before = slot.rung > 0 ? (rung - 1)->fraction : 0;
      ++estimate.tuning_trials;
      estimate.tuning_trainings += rung->fraction - (cost.goes_on ? before : 0);
      seconds += cost.training(rung->fraction, before);
    } else if (trained.insert({slot.family, slot.seed}).second || !plan.file.simulated ||
               !plan.families[slot.family].synchronous) {
      ++estimate.trainings;
      estimate.training_seconds += cost.training(1, 0);
      seconds += cost.training(1, 0);
    } else {
      ++estimate.replays;
      seconds += cost.replay();
    }
  }
  for (const SweepFamily& family : plan.families)
    estimate.tuned_families += family.brackets.empty() ? 0 : 1;
  estimate.training_seconds /= static_cast<double>(std::max<std::size_t>(1, estimate.trainings));
  estimate.wall_seconds = seconds / static_cast<double>(estimate.workers);
  return estimate;
}

std::string estimate_text(const SweepPlan& plan, const SweepEstimate& e) {
  std::string axes;
  for (const SweepAxis& axis : plan.file.axes)
    axes += fmt::format("{}{} ({})", axes.empty() ? "" : " x ", axis.name, axis.values.size());
  std::string text =
      fmt::format("{}{}{}, {}\n", axes, axes.empty() ? "" : ": ",
                  counted(plan.cells.size(), "cell"), counted(plan.seeds.size(), "seed"));
  if (e.tuned_families > 0)
    text += fmt::format("tune     {} of {} trials and {}, {}: {:.3g} full trainings' worth\n",
                        counted(e.tuned_families, "family", "families"), trials_text(plan),
                        counted(plan.tuning_seeds.size(), "seed"), plan.file.tune->by,
                        e.tuning_trainings);
  text += fmt::format("measure  {}, {} by clock alone\n", counted(e.trainings, "training"),
                      counted(e.replays, "more run"));
  if (plan.file.simulated)
    text +=
        fmt::format("time     one training {} (measured for {}): {} on {}\n",
                    seconds_text(e.training_seconds), seconds_text(e.measured_seconds),
                    seconds_text(e.wall_seconds), counted(e.workers, "core")) +
        fmt::format("memory   {}: {} at a time\n", e.memory.words(), counted(e.workers, "trial"));
  else
    text += "time     not estimated: real runs take what the network takes\n";
  const std::string more =
      e.checkpoint_bytes > 0
          ? fmt::format(", and up to {} more while it tunes", bytes_text(e.checkpoint_bytes))
          : "";
  return text +
         fmt::format("disk     {} in {}{}\n", bytes_text(e.disk_bytes), plan.file.output_dir, more);
}

Json estimate_json(const SweepPlan& plan, const SweepEstimate& e) {
  return {{"schema", "grapevine.estimate/1"},
          {"cells", plan.cells.size()},
          {"seeds", plan.seeds.size()},
          {"tuned_families", e.tuned_families},
          {"tuning_trials", e.tuning_trials},
          {"tuning_trainings", e.tuning_trainings},
          {"trainings", e.trainings},
          {"replays", e.replays},
          {"training_seconds", e.training_seconds},
          {"workers", e.workers},
          {"trial_memory_bytes", plan.file.simulated ? Json(e.memory.trial_bytes) : Json()},
          {"free_memory_bytes", e.memory.free_bytes ? Json(*e.memory.free_bytes) : Json()},
          {"wall_seconds", plan.file.simulated ? Json(e.wall_seconds) : Json()},
          {"disk_bytes", e.disk_bytes},
          {"checkpoint_bytes", e.checkpoint_bytes}};
}

}  // namespace gv

#include "peer/study/predict/forecast/advice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "gossip/steps/steps.h"
#include "peer/sim/simulation.h"

namespace gv {
namespace {

constexpr double warmup_epochs = 5;
constexpr double warmup_part = 0.1;  ///< fraction of the run

/// Returns the fraction of trainers whose gradients count in one step of the fleet's model.
double part_of_all(const Assembly& fleet) {
  const Setup& setup = *fleet.setup;
  const double n = setup.peers;
  const AlgorithmRow& row = *fleet.algorithm;
  const bool alone = !row.mixes && row.links == nullptr;
  if (alone || (row.serve != nullptr && !row.synchronous)) return 1 / n;  // each by itself
  const auto set = [&](std::string_view option, double otherwise) {
    const auto found = setup.settings.find(option);
    return found == setup.settings.end() ? otherwise : found->second;
  };
  if (row.serve == nullptr) return 1;
  const double quorum = set("quorum", 0) == 0 ? n : set("quorum", 0);
  return set("fraction", 1) * (1 - set("backup", 0) / n) * quorum / n;
}

/// Returns a peer's optimizer steps in one pass over its data; 0 if there are no samples.
double steps_per_epoch(const Assembly& fleet, double batch) {
  if (!fleet.data.train) return 0;
  return static_cast<double>(fleet.data.train->rows) / fleet.fleet.models() / batch;
}

std::uint64_t warmup_of(const Assembly& fleet, double batch) {
  const double epochs = warmup_epochs * steps_per_epoch(fleet, batch);
  const bool endless = fleet.rounds == std::numeric_limits<Round>::max();
  const double run = static_cast<double>(fleet.rounds) * fleet.fleet.local_steps;
  const double most = endless ? epochs : warmup_part * run;
  return static_cast<std::uint64_t>(std::ceil(epochs > 0 ? std::min(epochs, most) : most));
}

constexpr PeerId most_advised = 64;
constexpr Round half = 200;

const Option* consensus_option(const Assembly& fleet) {
  const AlgorithmRow& row = *fleet.algorithm;
  const bool loses = fleet.fleet.codec && !fleet.fleet.codec->dense();
  return loses && row.mixes && !row.options.empty() ? &row.options.front() : nullptr;
}

Fleet trial_of(const Fleet& fleet, std::string_view option, double step) {
  Fleet trial;
  trial.path = fleet.path;
  trial.seed = fleet.seed;
  trial.peers.assign(fleet.models(), {});
  trial.data.kind = trial.model.kind = "quadratic";
  trial.data.quadratic = {
      .dimension = 500, .hessian = {1}, .noise = 1, .spread = 1, .start = 0, .centers = {}};
  trial.optimizer.lr = 0.05;
  trial.topology = fleet.topology;
  trial.schedule = fleet.schedule;
  trial.weights = fleet.weights;
  trial.algorithm = fleet.algorithm;
  trial.order = fleet.order;
  trial.settings[std::string(option)] = step;
  trial.codec = fleet.codec;
  trial.stop.rounds = 2 * half;
  trial.evaluate_every = half;
  return trial;
}

/// Returns whether the models' consensus distance grows tenfold in the second half of the trial.
bool parts(const Fleet& fleet, std::string_view option, double step) {
  const Assembly trial(trial_of(fleet, option, step));
  std::vector<double> consensus;
  Observer observer(fleet.models(), trial.evaluator(), [&](const FleetRecord& r) {
    if (r.round == half || r.round == 2 * half) consensus.push_back(r.consensus);
  });
  SimulationOptions options;
  options.threads = 1;
  simulate(trial, observer, options);
  return consensus.size() < 2 || !(consensus[1] < 10 * consensus[0]);
}

}  // namespace

BatchAdvice batch_advice(const Assembly& fleet) {
  const PeerId n = fleet.fleet.models();
  double sum = 0;
  for (PeerId m = 0; m < n; ++m) sum += fleet.fleet.batch_of(m);
  BatchAdvice advice{.alone = sum / n};
  advice.together = sum * part_of_all(fleet);
  const double times = advice.together / advice.alone;
  advice.linear = fleet.fleet.optimizer.lr * times;
  advice.square_root = fleet.fleet.optimizer.lr * std::sqrt(times);
  if (times >= 2) advice.warmup = warmup_of(fleet, advice.alone);
  return advice;
}

bool has_own_rate(const Assembly& fleet) {
  return fleet.fleet.program && fleet.algorithm->program.turns != ProgramUse::Turns::gradient;
}

std::string consensus_key(const Assembly& fleet) {
  const Option* option = consensus_option(fleet);
  return option == nullptr ? "" : fmt::format("algorithm.{}", option->name);
}

std::string codec_warning(const Assembly& fleet) {
  const Option* option = consensus_option(fleet);
  if (option == nullptr || fleet.fleet.models() > most_advised) return "";
  const double usual = usual_consensus_step(fleet.fleet.codec);
  const double step = consensus_step(*fleet.setup, option->name);
  if (step <= usual || !parts(fleet.fleet, option->name, step)) return "";
  return fmt::format(
      "{} {:g} is too far a step for codec {}: in a trial on this graph, with white noise, the "
      "models part without end; leave it out, which is {:g}",
      consensus_key(fleet), step, to_string(*fleet.fleet.codec), usual);
}

std::string loss_not_finite(const Assembly& fleet) {
  const std::string key = consensus_key(fleet);
  return fmt::format("error: the loss is not finite; lower {}{}", key.empty() ? "" : key + ", or ",
                     has_own_rate(fleet) ? "the program's learning rate" : "train.optimizer.lr");
}

}  // namespace gv

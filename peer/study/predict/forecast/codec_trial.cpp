#include "peer/study/predict/forecast/codec_trial.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "gossip/steps/steps.h"
#include "peer/sim/simulation.h"
#include "peer/study/predict/forecast/batch_advice.h"

namespace gv {
namespace {

constexpr PeerId most_peers = 64;
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

std::string consensus_key(const Assembly& fleet) {
  const Option* option = consensus_option(fleet);
  return option == nullptr ? "" : fmt::format("algorithm.{}", option->name);
}

std::string codec_warning(const Assembly& fleet) {
  const Option* option = consensus_option(fleet);
  if (option == nullptr || fleet.fleet.models() > most_peers) return "";
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

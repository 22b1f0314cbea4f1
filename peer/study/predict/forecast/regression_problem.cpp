#include "peer/study/predict/forecast/regression_problem.h"

#include <algorithm>
#include <cmath>

namespace gv {
namespace {

bool plain(const OptimizerSpec& o) {
  return o.kind == "sgd" && o.momentum == 0 && o.weight_decay == 0 && o.clip_norm == 0 &&
         o.lr > 0 && o.schedule.kind == "constant" && o.schedule.warmup == 0;
}

/// The rounds that a peer can take on fresh samples, the fewest of all.
double fresh_rounds(const Assembly& fleet) {
  double fewest = 1e300;
  for (PeerId i = 0; i < fleet.fleet.trainers(); ++i) {
    fewest = std::min(fewest,
                      static_cast<double>(fleet.partition[i].size()) / fleet.fleet.peers[i].batch);
  }
  return fewest;
}

std::vector<double> weights_of(const Neighborhood& row) {
  std::vector<double> weights = row.weights;
  std::ranges::sort(weights);
  return weights;
}

}  // namespace

std::optional<RegressionProblem> regression_problem(const Assembly& fleet) {
  const Fleet& f = fleet.fleet;
  const bool linear = f.data.kind == "linear" && f.model.kind == "linear";
  const std::uint32_t batch = f.peers.front().batch;
  const bool even = std::ranges::all_of(f.peers, [&](const auto& p) { return p.batch == batch; });
  if (!linear || !even || !plain(f.optimizer) || !fleet.is_plain_d_psgd() || f.local_steps != 1 ||
      f.data.partition.kind != "iid")
    return std::nullopt;
  if (static_cast<double>(fleet.rounds) > fresh_rounds(fleet)) return std::nullopt;
  RegressionProblem problem;
  problem.fleet = {.covariance = std::vector<double>(f.data.features + 1, 1.0),
                   .noise = f.data.noise * f.data.noise,
                   .batch = static_cast<double>(batch),
                   .rate = f.optimizer.lr,
                   .order = std::string(fleet.algorithm->order)};
  problem.optimum.assign(fleet.data.train->optimum.begin(), fleet.data.train->optimum.end());
  problem.optimum.push_back(0);
  return problem;
}

bool peers_alike(const MixingSchedule& schedule) {
  for (std::uint64_t k = 0; k < schedule.period(); ++k) {
    const std::vector<double> first = weights_of(schedule.row(k, 0));
    for (PeerId i = 1; i < schedule.size(); ++i) {
      const auto near = [](double a, double b) { return std::abs(a - b) < 1e-12; };
      if (!std::ranges::equal(weights_of(schedule.row(k, i)), first, near)) return false;
    }
  }
  return true;
}

}  // namespace gv

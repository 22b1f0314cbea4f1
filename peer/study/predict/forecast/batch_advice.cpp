#include "peer/study/predict/forecast/batch_advice.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

}  // namespace gv

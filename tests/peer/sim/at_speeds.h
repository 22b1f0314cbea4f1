#pragma once

#include <cmath>

#include "tests/peer/sim/drawn_quadratic.h"

namespace gv {

/// Steps between two exchanges of a peer with its servers. Everything else, on the servers too,
/// takes less than a hundredth of their time.
inline constexpr std::uint32_t long_turn = 1000;

/// Lets a turn of peer i take times[i] seconds, and move x as far as a few steps would.
inline void take_turns_of(DrawnQuadratic& drawn, const Values& times) {
  const double d = drawn.fleet.data.quadratic.dimension;
  drawn.fleet.local_steps = long_turn;
  drawn.fleet.optimizer.lr = drawn.gamma = 4 * drawn.gamma / long_turn;
  drawn.fleet.flops = 6 * d * long_turn;
  for (std::size_t i = 0; i < times.size(); ++i) drawn.fleet.peers[i].speed = 1 / times[i];
}

/// Returns times of n peers, each between one and three seconds.
inline Values drawn_times(Rng& rng, std::size_t n) {
  Values times;
  for (std::size_t i = 0; i < n; ++i) times.push_back(1 + 2 * rng.uniform());
  return times;
}

/// Returns the move of peer i in a turn of `steps` steps from `model`, at the rate that makes up
/// for their number: (1 - (1 - rate h)^H) / h of the gradient, where h is the gradient's slope.
inline Values moved_in_turn(const DrawnQuadratic& q,
                            const Values& model,
                            std::size_t i,
                            std::uint32_t steps = long_turn) {
  const DrawnQuadratic::Rows here(q.start.size(), model);
  const DrawnQuadratic::Rows further(q.start.size(), Values(model.size(), 1));
  const Values g = q.gradient(here)[i];
  const Values there = q.gradient(q.sum(1, here, 1, further))[i];
  Values moved(model.size());
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const double h = there[k] - g[k];
    moved[k] = -(1 - std::pow(1 - q.gamma * long_turn / steps * h, steps)) / h * g[k];
  }
  return moved;
}

}  // namespace gv

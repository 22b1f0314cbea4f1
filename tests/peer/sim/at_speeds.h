#pragma once

#include <cmath>

#include "tests/peer/sim/drawn_quadratic.h"

namespace gv {

/// Steps between two talks of a peer and its servers: so many that whatever else takes time, on the
/// servers too, is less than a hundredth of theirs.
inline constexpr std::uint32_t long_turn = 1000;

/// Lets a turn of peer i take times[i] seconds, and moves it as far in one as a few steps would.
inline void take_turns_of(DrawnQuadratic& drawn, const Values& times) {
  const double d = drawn.fleet.data.quadratic.dimension;
  drawn.fleet.local_steps = long_turn;
  drawn.fleet.optimizer.lr = drawn.gamma = 4 * drawn.gamma / long_turn;
  drawn.fleet.flops = 6 * d * long_turn;
  for (std::size_t i = 0; i < times.size(); ++i) drawn.fleet.peers[i].speed = 1 / times[i];
}

/// The times of as many peers, each between one and three seconds.
inline Values drawn_times(Rng& rng, std::size_t n) {
  Values times;
  for (std::size_t i = 0; i < n; ++i) times.push_back(1 + 2 * rng.uniform());
  return times;
}

/// How far a turn of so many steps from `model` moves peer i, at the rate that makes up for their
/// number: by (1 - (1 - rate h)^H) / h of its gradient there, where h is what that changes by.
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

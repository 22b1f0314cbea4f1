#pragma once

#include "gossip/peer.h"
#include "gossip/setup.h"

namespace gv {

// The outer step of DiLoCo and related methods: SGD with Nesterov momentum, in PyTorch's form,
// along the moves of the peers' inner steps. Douillard et al. 2023, arXiv:2311.08105, Algorithm 1.

constexpr Option outer_lr_option(double usual) {
  return {.name = "outer_lr",
          .usual = usual,
          .least = 0,
          .most = 1e6,
          .help = "learning rate of the outer step"};
}

inline constexpr Option outer_momentum_option{.name = "outer_momentum",
                                              .usual = 0.9,
                                              .least = 0,
                                              .most = 0.999999,
                                              .help = "Nesterov momentum of the outer step"};

/// u <- mu u + delta, x <- x - lr (delta + mu u), by these two options.
Task<> outer_step(Peer& me, Vector delta, Vector u);

}  // namespace gv

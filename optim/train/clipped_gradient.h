#pragma once

#include <memory>

#include "optim/models/objective.h"

namespace gv {

/// The objective whose gradients are no longer than `norm` > 0: g <- norm / ||g|| g where ||g|| is
/// greater. Pascanu, Mikolov & Bengio, "On the difficulty of training recurrent neural networks",
/// ICML 2013, arXiv:1211.5063, Algorithm 1. Losses and evaluations stay as they are, and so does a
/// gradient that is not finite, so that whoever looks for those finds it. For gradients of whole
/// minibatches: a part of one is as long as it is by chance.
std::unique_ptr<Objective> make_clipped(std::unique_ptr<Objective> own, double norm);

}  // namespace gv

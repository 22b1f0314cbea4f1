#pragma once

#include <cstddef>
#include <memory>

#include "optim/train/optimizer.h"

namespace gv {

/// Makes Adam or AdamW whose moments take s = spec.accumulate gradients at once, as their mean:
/// they see the noise of a minibatch that is s times as large, while x steps by each gradient. With
/// M, V the moments of the windows of s steps that are over, k of the windows that have begun: m =
/// beta1 M + (1 - beta1) g, v = beta2 V + (1 - beta2) g^2, x <- x - gamma m / (1 - beta1^k) /
/// (sqrt(v / (1 - beta2^k)) + epsilon); the last step of a window, whose mean gradient is b, M <-
/// beta1 M + (1 - beta1) b, V <- beta2 V + (1 - beta2) b^2. Wang, Zhang, Wu & Johansson, "From
/// promise to practice: realizing high-performance decentralized training", ICLR 2025,
/// arXiv:2410.11998, Appendix C, as their AccumAdam and AccumAdamW have it: beta2 in V's rule, and
/// epsilon beside the root. What is ours: the windows are counted in this peer's own steps, and one
/// that is not over goes on after a checkpoint. With d-psgd in its own order it is their
/// decentralized Adam. d: length of x. Keeps 3 vectors.
std::unique_ptr<Optimizer> make_accumulated_adam(const OptimizerSpec& spec, std::size_t d);

}  // namespace gv

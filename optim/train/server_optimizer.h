#pragma once

#include <cstddef>
#include <memory>

#include "optim/train/optimizer.h"

namespace gv {

/// Returns whether `kind` is one of the rules below: fed-adagrad, fed-adam or fed-yogi.
bool is_server_optimizer(const std::string& kind);

/// Makes what a server of federated averaging steps by, along g = -Delta, where Delta is what the
/// drawn peers have moved on average: m <- beta1 m + (1 - beta1) g; v <- v + g^2 (fed-adagrad),
/// beta2 v + (1 - beta2) g^2 (fed-adam) or v - (1 - beta2) g^2 sign(v - g^2) (fed-yogi); x <- x -
/// gamma m / (sqrt(v) + tau). tau is spec.epsilon, v begins at tau^2, and nothing is corrected for
/// the zero that m begins with. Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar & McMahan,
/// "Adaptive federated optimization", ICLR 2021, arXiv:2003.00295, Algorithm 2. d: length of x.
std::unique_ptr<Optimizer> make_server_optimizer(const OptimizerSpec& spec, std::size_t d);

}  // namespace gv

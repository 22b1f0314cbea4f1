#pragma once

#include <memory>

#include "optim/models/network.h"
#include "optim/models/objective.h"

namespace gv {

/// Softmax cross-entropy of a network on the CPU. Throws std::invalid_argument when the network
/// was made for other data.
///
/// Batch norm when models are averaged: running means and variances are no parameters. They are
/// not in x, travel nowhere and are averaged by nobody, so that what is proved of averaging holds
/// for all of x. A gradient takes the moments of its own minibatch (Ioffe & Szegedy 2015,
/// arXiv:1502.03167). An evaluation first measures the moments of the very x that it evaluates,
/// over a fixed random sample of up to 1,024 of the peer's own training rows in batches of 64, and
/// then takes those: "precise" batch norm, Wu & Johnson 2021, arXiv:2105.07576, section 3; a mean
/// of models has no other right moments, Izmailov et al. 2018, arXiv:1803.05407, section 3.2.
std::unique_ptr<Objective> make_network_objective(NeuralNetwork network, Share share);

/// Throws std::invalid_argument when the network was made for other data.
void check_fits(const NeuralNetwork& network, const Dataset& data);

}  // namespace gv

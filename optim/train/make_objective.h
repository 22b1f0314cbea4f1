#pragma once

#include <memory>

#include "optim/models/model.h"

namespace gv {

/// The objective of a model on a peer's share of the data, on the CPU. Throws
/// std::invalid_argument when the share has no data, and when model and data do not fit.
std::unique_ptr<Objective> make_objective(const ModelSpec& spec, Share share);

}  // namespace gv

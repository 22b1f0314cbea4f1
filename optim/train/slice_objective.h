#pragma once

#include <memory>

#include "optim/train/replica.h"

namespace gv {

/// The coordinates `r` of a model, for a peer that keeps and steps them and has no data: they begin
/// as the model's own do, their evaluation says nothing, and to ask for a gradient is our own
/// mistake.
std::unique_ptr<Objective> make_slice(std::unique_ptr<Objective> whole, Range r);

}  // namespace gv

#pragma once

#include <vector>

namespace gv {

/// The errors that a learner found in the minibatch that it was last given: where there are
/// priorities, one for each of its transitions. Written by its objective, and read between two
/// gradients by whoever asks the memory for the next minibatch.
struct FoundErrors {
  std::vector<float> errors{};
};

}  // namespace gv

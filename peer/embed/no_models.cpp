#include <stdexcept>

#include "optim/train/make_objective.h"

// In the place of optim/train/make_objective.cpp, in the library of programs that bring their own
// gradients: with it, every model and the arithmetic of all layers would be in there.

namespace gv {

std::unique_ptr<Objective> make_objective(const ModelSpec& spec, Share) {
  throw std::invalid_argument("model `" + spec.kind +
                              "` is one of ours, and this library has none: `grapevine run` trains "
                              "it");
}

}  // namespace gv

#include <stdexcept>

#include "optim/train/make_objective.h"
#include "peer/runtime/load_data.h"

// In the place of optim/train/make_objective.cpp and peer/runtime/load_data.cpp, in the library of
// programs that bring their own gradients and data: with those, every model, the arithmetic of all
// layers and the readers of all formats would be in there. An assembly with a ProgramModel asks for
// neither.

namespace gv {
namespace {

[[noreturn]] void refuse() {
  throw std::invalid_argument(
      "this library has no models and no data of its own: `grapevine run` trains them");
}

}  // namespace

std::unique_ptr<Objective> make_objective(const ModelSpec&, Share) {
  refuse();
}

LoadedData load_data(const Fleet&, std::optional<PeerId>) {
  refuse();
}

}  // namespace gv

#include <stdexcept>

#include "gpu/cuda_replica.h"

// Linked when CUDA is off: the same symbols, and a clear word.

namespace gv {

bool cuda_available() {
  return false;
}

std::unique_ptr<Replica> make_cuda_replica(
    std::unique_ptr<Objective>, const OptimizerSpec&, std::uint32_t, Rng, int) {
  throw std::runtime_error("[gpu] this binary was built without CUDA: use device: cpu");
}

}  // namespace gv

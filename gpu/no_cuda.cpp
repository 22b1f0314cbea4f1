#include "gpu/cuda_replica.h"

// Linked when CUDA is off: the same functions, with a clear error message.

namespace gv {

CudaStatus cuda_status() {
  CudaStatus status;
  status.problem =
      "this binary was built without CUDA; where CUDA's toolkit is installed, "
      "`GRAPEVINE_CUDA=on ./grapevine doctor` builds it in";
  return status;
}

bool cuda_available() {
  return false;
}

std::unique_ptr<Replica> make_cuda_replica(
    const NeuralNetwork&, Share, const OptimizerSpec&, std::uint32_t, Rng, CudaPlace, Precision) {
  throw CudaError("[gpu] " + cuda_status().problem + "; until then use device: cpu");
}

}  // namespace gv

#include "gpu/device/cuda_error.h"
#include "gpu/layers/layer.h"

// Built in place of convolution.cpp where there is no cuDNN: the same symbol, and a clear word.

namespace gv::gpu {

std::unique_ptr<Layer> make_convolution(const LayerPlan&) {
  throw CudaError(
      "[gpu] this binary was built without cuDNN, which convolutions need: train lenet5 and "
      "resnet20 with device: cpu, or build where cuDNN is installed");
}

}  // namespace gv::gpu

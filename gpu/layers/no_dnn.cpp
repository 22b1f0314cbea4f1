#include "gpu/device/cuda_error.h"
#include "gpu/layers/layer.h"

// Built instead of convolution_layer.cpp if cuDNN is missing: the function with a clear error.

namespace gv::gpu {

std::unique_ptr<Layer> make_convolution(const LayerPlan&) {
  throw CudaError(
      "[gpu] this binary was built without cuDNN, which convolutions need: train lenet5 and "
      "resnet20 with device: cpu, or build where cuDNN is installed");
}

}  // namespace gv::gpu

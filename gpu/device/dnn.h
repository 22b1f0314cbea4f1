#pragma once

#include <utility>

#include <cudnn.h>

namespace gv::gpu {

/// Throws CudaError unless the call succeeded.
void check(cudnnStatus_t status, const char* call, const char* file, int line);

/// A cuDNN descriptor, created and destroyed by the two functions.
template <class T, cudnnStatus_t (*Create)(T*), cudnnStatus_t (*Destroy)(T)>
class Descriptor {
 public:
  Descriptor() { check(Create(&handle_), "cudnnCreate...", __FILE__, __LINE__); }
  ~Descriptor() {
    if (handle_ != nullptr) Destroy(handle_);
  }
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  operator T() const { return handle_; }

 private:
  T handle_ = nullptr;
};

using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor = Descriptor<cudnnConvolutionDescriptor_t,
                                         cudnnCreateConvolutionDescriptor,
                                         cudnnDestroyConvolutionDescriptor>;
using DnnHandle = Descriptor<cudnnHandle_t, cudnnCreate, cudnnDestroy>;

}  // namespace gv::gpu

/// Every call of cuDNN goes through this.
#define GV_DNN(call) ::gv::gpu::check((call), #call, __FILE__, __LINE__)

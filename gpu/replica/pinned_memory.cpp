#include "gpu/device/memory.h"
#include "gpu/replica/make_replica.h"

namespace gv::gpu {
namespace {

/// Buffers come and go on the peer's loop, which does no arithmetic: without naming the device they
/// would begin to use another one.
class PinnedMemory : public BufferMemory {
 public:
  explicit PinnedMemory(int device) : device_(device) {}
  std::byte* allocate(std::size_t bytes) override {
    GV_CUDA(cudaSetDevice(device_));
    return static_cast<std::byte*>(allocate_pinned(bytes, "buffers of the exchange"));
  }
  void release(std::byte* memory) noexcept override {
    cudaSetDevice(device_);
    free_pinned(memory);
  }

 private:
  int device_;
};

}  // namespace

std::shared_ptr<BufferMemory> pinned_memory(int device) {
  return std::make_shared<PinnedMemory>(device);
}

}  // namespace gv::gpu

#include <string>

#include "gpu/device/cuda_check.h"
#include "gpu/device/device_memory.h"
#include "gpu/replica/make_device_replica.h"
#include "optim/machine/page_lock.h"

namespace gv::gpu {
namespace {

/// Most memory to lock. Other processes lose locked pages even while these are unused. This is
/// enough for eight models of 134 million parameters.
constexpr std::size_t most_locked = std::size_t{4} << 30;

/// Buffers are allocated and released on the peer's loop, which does no arithmetic. Its thread must
/// select the device, or it would begin to use another one.
class PinnedMemory : public BufferMemory, public PageLock {
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

  bool lock(std::span<const std::byte> pages, bool only_read) override {
    if (pages.size() > most_locked) return refuse(pages, only_read, "more than a peer locks");
    GV_CUDA(cudaSetDevice(device_));
    const cudaError_t status = lock_pages(pages, only_read);
    if (status == cudaSuccess) return true;
    const std::string name(cudaGetErrorName(status));
    return refuse(pages, only_read, name + ": " + cudaGetErrorString(status));
  }
  void unlock(const std::byte* pages) noexcept override {
    cudaSetDevice(device_);
    unlock_pages(pages);
  }

 private:
  bool refuse(std::span<const std::byte> pages, bool only_read, const std::string& why) {
    if (!said_)
      notice(std::to_string(pages.size() >> 20) + " MiB of memory that neighbours share are not " +
             "locked for the device (" + why + "); what " +
             (only_read ? "they lend is copied twice" : "this peer sends them travels as bytes"));
    said_ = true;
    return false;
  }

  int device_;
  bool said_ = false;  ///< whether the notice was printed
};

}  // namespace

std::shared_ptr<BufferMemory> pinned_memory(int device) {
  return std::make_shared<PinnedMemory>(device);
}

}  // namespace gv::gpu

#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include "gpu/device/cuda_check.h"
#include "gpu/device/cuda_error.h"

namespace gv::gpu {

/// The device has no room for an allocation, and is otherwise usable.
struct DeviceFull : CudaError {
  using CudaError::CudaError;
};

/// Returns zeroed device memory. Throws DeviceFull that names `what`, bytes wanted and bytes free.
void* allocate_device(std::size_t bytes, const std::string& what);
/// Returns page-locked host memory that every device can access; its content is unspecified.
void* allocate_pinned(std::size_t bytes, const std::string& what);
void free_device(void* memory) noexcept;
void free_pinned(void* memory) noexcept;

/// Array of `count` elements of T, allocated once on the caller's current device. Movable.
template <class T, void* (*Allocate)(std::size_t, const std::string&), void (*Free)(void*)>
class Array {
 public:
  Array() = default;
  Array(std::size_t count, const std::string& what)
      : data_(static_cast<T*>(count == 0 ? nullptr : Allocate(count * sizeof(T), what))),
        count_(count) {}
  ~Array() {
    if (data_ != nullptr) Free(data_);
  }
  Array(Array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  T& operator[](std::size_t i) { return data_[i]; }  ///< for pinned arrays only
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

template <class T>
using DeviceArray = Array<T, allocate_device, free_device>;
template <class T>
using PinnedArray = Array<T, allocate_pinned, free_pinned>;

/// A stream of ordinary priority that does not wait for the default stream.
class Stream {
 public:
  Stream() { GV_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  /// Makes the host wait; throws the errors of the work before.
  void wait() const { GV_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Returns flags of an event to wait for: the host sleeps if it does so for the streams.
unsigned flags_to_wait_for();

class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    GV_CUDA(cudaEventCreateWithFlags(&event_, flags));
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  operator cudaEvent_t() const { return event_; }
  void record(cudaStream_t stream) const { GV_CUDA(cudaEventRecord(event_, stream)); }
  /// Makes later work of `stream` wait for what was recorded last, if anything was.
  void hold(cudaStream_t stream) const { GV_CUDA(cudaStreamWaitEvent(stream, event_, 0)); }
  /// Makes the host wait for what was recorded last, as the event's flags demand; throws its
  /// errors.
  void wait() const { GV_CUDA(cudaEventSynchronize(event_)); }

 private:
  cudaEvent_t event_ = nullptr;
};

template <class T>
void copy_async(T* to, const T* from, std::size_t count, cudaMemcpyKind way, cudaStream_t stream) {
  if (count > 0) GV_CUDA(cudaMemcpyAsync(to, from, count * sizeof(T), way, stream));
}

/// Returns the NUMA node next to a PCI device, by the kernel's numbering. Returns nothing if the
/// machine has only one, or the kernel does not report it. address: "0000:3B:00.0", in any case.
std::optional<int> node_of(std::string address,
                           const std::string& devices = "/sys/bus/pci/devices");

/// Returns the NUMA node next to the calling thread's current device.
std::optional<int> own_node();

/// During its lifetime, memory that the calling thread touches first is placed on the given node,
/// if that has room: copies from another node would cross the link between the sockets. The
/// destructor restores the old policy. If the system forbids the change (a container), it does
/// nothing.
class NearMemory {
 public:
  explicit NearMemory(std::optional<int> node);
  ~NearMemory();
  NearMemory(const NearMemory&) = delete;
  NearMemory& operator=(const NearMemory&) = delete;

 private:
  static constexpr unsigned long most_nodes = 1024;  ///< limit of a kernel
  using Nodes = std::array<unsigned long, most_nodes / (8 * sizeof(unsigned long))>;
  bool changed_ = false;
  int mode_ = 0;  ///< policy to restore
  Nodes nodes_{};
};

/// Locks pages of the host for copies of every device. Untouched ones are placed on the NUMA node
/// next to the calling thread's device. `only_read`: maps them as read-only.
cudaError_t lock_pages(std::span<const std::byte> pages, bool only_read);
void unlock_pages(const std::byte* pages) noexcept;

/// Work that is recorded once and then launched with one call: the same kernels with the same
/// arguments, so the same bits as without a recording.
class CudaGraph {
 public:
  CudaGraph() = default;
  ~CudaGraph();
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  bool recorded() const { return executable_ != nullptr; }
  /// Records the work that `work` puts into `stream`, without running it. `work` must have run
  /// before, so that the libraries are loaded. Returns "" on success, else the reason: a driver, or
  /// a library for some shape, may refuse. The caller can then run `work` directly.
  std::string record(const Stream& stream, const std::function<void()>& work);
  void launch(const Stream& stream) const;

 private:
  void capture(const Stream& stream, const std::function<void()>& work);

  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace gv::gpu

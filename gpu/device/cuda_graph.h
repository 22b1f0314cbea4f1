#pragma once

#include <functional>
#include <string>

#include "gpu/device/device_memory.h"

namespace gv::gpu {

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

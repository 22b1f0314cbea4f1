#pragma once

#include <functional>

#include "gpu/device/memory.h"

namespace gv::gpu {

/// Work recorded once and given to the device in one call from then on: the same kernels with the
/// same arguments, so the same bits as without it.
class CudaGraph {
 public:
  CudaGraph() = default;
  ~CudaGraph();
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  bool recorded() const { return executable_ != nullptr; }
  /// Records what `work` puts into `stream`; none of it runs. `work` must have run before, so that
  /// the libraries have loaded what they need.
  void record(const Stream& stream, const std::function<void()>& work);
  void launch(const Stream& stream) const;

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace gv::gpu

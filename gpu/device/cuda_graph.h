#pragma once

#include <functional>
#include <string>

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
  /// the libraries have loaded what they need. Returns why it cannot be recorded, "" if it is: a
  /// driver, or a library for some shape, may refuse it, and `work` can be done without.
  std::string record(const Stream& stream, const std::function<void()>& work);
  void launch(const Stream& stream) const;

 private:
  void capture(const Stream& stream, const std::function<void()>& work);

  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace gv::gpu

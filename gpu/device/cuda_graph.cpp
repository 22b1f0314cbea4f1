#include "gpu/device/cuda_graph.h"

#include "gpu/device/cuda_error.h"

namespace gv::gpu {

CudaGraph::~CudaGraph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

std::string CudaGraph::record(const Stream& stream, const std::function<void()>& work) {
  try {
    capture(stream, work);
    return "";
  } catch (const CudaError& e) {
    return e.what();
  }
}

void CudaGraph::capture(const Stream& stream, const std::function<void()>& work) {
  // Other threads, with other replicas, can continue during the capture.
  GV_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);  // the exception in flight has the better message
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  GV_CUDA(cudaStreamEndCapture(stream, &graph));
  const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  GV_CUDA(status);
}

void CudaGraph::launch(const Stream& stream) const {
  GV_CUDA(cudaGraphLaunch(executable_, stream));
}

}  // namespace gv::gpu

#include "gpu/device/cuda_check.h"

#include <cstdio>

#include "gpu/device/cuda_error.h"

namespace gv::gpu {
namespace {

[[noreturn]] void fail(const char* call, const std::string& why, const char* file, int line) {
  const std::string path(file);
  throw CudaError("[gpu] " + why + ", in " + call + " (" + path.substr(path.rfind('/') + 1) + ":" +
                  std::to_string(line) + ")");
}

}  // namespace

void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that the next call does not return it
  fail(call, std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status), file, line);
}

void check(cublasStatus_t status, const char* call, const char* file, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(call, std::string("cuBLAS: ") + cublasGetStatusString(status), file, line);
}

void notice(const std::string& what) {
  std::fprintf(stderr, "[gpu] %s\n", what.c_str());
}

}  // namespace gv::gpu

// Errors and devices.
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "tests/gpu/host/streams.h"

using namespace gv::host_cuda;

namespace gv::host_cuda {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int device = 0;
std::map<int, unsigned> device_flags;
constexpr std::size_t memory_bytes = std::size_t{4} << 30;

}  // namespace

cudaError_t failed(cudaError_t error) {
  last_error = error;
  return error;
}

}  // namespace gv::host_cuda

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  return last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidMemcpyDirection:
      return "cudaErrorInvalidMemcpyDirection";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorHostMemoryAlreadyRegistered:
      return "cudaErrorHostMemoryAlreadyRegistered";
    case cudaErrorHostMemoryNotRegistered:
      return "cudaErrorHostMemoryNotRegistered";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
  }
  return "an error without a name";
}
const char* cudaGetErrorString(cudaError_t error) {
  return cudaGetErrorName(error);
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = settings().devices;
  return *count > 0 ? cudaSuccess : failed(cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int* number) {
  *number = device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int number) {
  if (number < 0 || number >= settings().devices) return failed(cudaErrorInvalidDevice);
  device = number;
  return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  const Call call(calls());
  device_flags[device] = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  const Call call(calls());
  *flags = device_flags[device];
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "the host");
  properties->totalGlobalMem = memory_bytes;
  properties->major = settings().capability / 10;
  properties->minor = settings().capability % 10;
  return cudaSuccess;
}
/// Writes a bus address that no machine's device has.
cudaError_t cudaDeviceGetPCIBusId(char* address, int length, int number) {
  if (number < 0 || number >= settings().devices) return failed(cudaErrorInvalidDevice);
  std::snprintf(address, static_cast<std::size_t>(length), "FFFF:FF:%02X.0", number);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = memory_bytes;
  *free = memory_bytes / 2;
  return cudaSuccess;
}

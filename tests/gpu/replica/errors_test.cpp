#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/device/cuda_check.h"
#include "gpu/device/cuda_error.h"
#include "gpu/device/device_memory.h"
#include "gpu/device/dnn.h"
#include "gpu/kernels/vector_kernels.h"
#include "tests/gpu/host/host_cuda.h"

// Messages for errors of the runtime and of each library; the stream remains usable after an error.

namespace gv::gpu {
namespace {

/// Returns the message that a call throws; empty if it does not.
template <class Call>
std::string told_by(const Call& call) {
  try {
    call();
  } catch (const CudaError& e) {
    return e.what();
  }
  return "";
}

TEST(PlayedErrors, NameTheLibraryTheCallAndThePlace) {
  const std::string blas = told_by(
      [] { check(CUBLAS_STATUS_INVALID_VALUE, "cublasSome(...)", "/a/folder/some.cpp", 12); });
  EXPECT_EQ(blas, "[gpu] cuBLAS: invalid value, in cublasSome(...) (some.cpp:12)");
  const std::string dnn =
      told_by([] { check(CUDNN_STATUS_BAD_PARAM, "cudnnSome(...)", "/a/folder/some.cpp", 13); });
  EXPECT_EQ(dnn, "[gpu] cuDNN: bad parameter, in cudnnSome(...) (some.cpp:13) ");
}

TEST(PlayedErrors, SayWhatPinnedMemoryWasFor) {
  const std::size_t before = host_cuda::live_allocations();
  host_cuda::fail_allocation(0);
  const std::string told = told_by([] { const PinnedArray<float> some(3 << 20, "the losses"); });
  EXPECT_EQ(told,
            "[gpu] the host has no 12 MiB of memory to lock for the losses (ulimit -l, or the "
            "memory limit of a container)");
  EXPECT_EQ(host_cuda::live_allocations(), before);
}

/// Doubles v in the stream; returns its first element.
float doubled(const Stream& stream, DeviceArray<float>& v) {
  scale(v.data(), 2, v.size(), stream);
  PinnedArray<float> first(1, "the first");
  copy_async(first.data(), v.data(), 1, cudaMemcpyDeviceToHost, stream);
  stream.wait();
  return first[0];
}

TEST(PlayedErrors, InARecordingLeaveTheStreamAsItWas) {
  const Stream stream;
  DeviceArray<float> v(300, "v");
  PinnedArray<float> one(1, "one");
  one[0] = 1;
  copy_async(v.data(), one.data(), 1, cudaMemcpyHostToDevice, stream);
  CudaGraph graph;
  EXPECT_NE(graph.record(stream,
                         [&] {
                           scale(v.data(), 3, v.size(), stream);
                           const DeviceArray<float> more(5, "more");
                         }),
            "");
  EXPECT_FALSE(graph.recorded());
  EXPECT_EQ(doubled(stream, v), 2) << "what was to be recorded has not been carried out";
  EXPECT_THROW(graph.record(stream, [] { throw std::logic_error("another error than CUDA's"); }),
               std::logic_error);
  EXPECT_FALSE(graph.recorded());
  EXPECT_EQ(doubled(stream, v), 4);
  EXPECT_EQ(graph.record(stream, [&] { scale(v.data(), 5, v.size(), stream); }), "");
  ASSERT_TRUE(graph.recorded());
  graph.launch(stream);
  EXPECT_EQ(doubled(stream, v), 40);
}

}  // namespace
}  // namespace gv::gpu

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>

#include "cuda_runtime.h"

// CUDA without a device, for tests: the runtime, cuBLAS and cuDNN as far as gpu/ calls them, on the
// CPU. Kernels run block by block, and a block's threads as fibers that stop at barriers and
// shuffles. What a caller may not rely on, such as the order of streams that no event ties, is
// drawn, so that a program that relies on it fails for some seed.
//
//   GV_HOST_ORDER    eager: as soon as given; late: when somebody waits, and no more than that;
//                    ahead: when somebody waits, first all that the other streams can do; random:
//                    drawn among what events allow, one stream being ahead for a while
//   GV_HOST_THREADS  up, down or random: the order of a block's threads between two barriers
//   GV_HOST_BLOCKS   up, down or random: the order of a grid's blocks
//   GV_HOST_GUARD    1: the host may not touch the device's memory
//   GV_HOST_WATCH    0: nobody looks at the accesses of kernels, where they are built to be watched
//   GV_HOST_SEED     of all that is drawn
//   GV_HOST_CAPABILITY  that of the devices, ten times it; 90
//   GV_HOST_DEVICES  how many devices there are; 1

namespace gv::host_cuda {

enum class Order : std::uint8_t { up, down, random };
enum class When : std::uint8_t { eager, late, ahead, random };

struct Settings {
  Order threads = Order::up, blocks = Order::up;
  When when = When::eager;
  bool guard = false;
  bool watches = true;
  unsigned seed = 1;
  int capability = 90;
  int devices = 1;
};
/// The environment's, read once.
const Settings& settings();
/// Another order of the streams from now on, for a test that speaks of one; returns that before.
When take_order(When order);

/// Says what a program does that no device allows, and aborts.
[[noreturn]] void problem(const std::string& what);

/// The work that was done so far, for tests that count.
struct Counts {
  std::size_t kernels = 0, blocks = 0;
  std::size_t products = 0;  ///< calls of cuBLAS and cuDNN
  std::size_t copies = 0, sets = 0, waits = 0, records = 0, synchronizations = 0, graphs = 0;
  /// Of copies between host and device, and of these what may run while a kernel does that was
  /// given to another stream before: neither an event nor a wait of the host stands between.
  std::size_t bus_bytes = 0, bus_bytes_beside = 0;
  /// Such copies count here whose host memory is not page-locked; and those to memory that
  /// cudaHostRegister locked, and from what it locked to be read.
  std::size_t pageable_bytes = 0, to_registered = 0, from_registered = 0;
  /// Counts what a device has to begin for itself.
  std::size_t operations() const { return kernels + products + copies + sets; }
};
Counts& counts();

/// The allocation after so many more fails; below 0: none does.
void fail_allocation(long after);
/// Allocations on the device and of pinned memory that are not freed, and the bytes of those on the
/// device.
std::size_t live_allocations();
std::size_t live_device_bytes();

/// The things that a driver or a library may refuse.
struct Refusals {
  bool recordings = false;
  bool bf16_convolutions = false;
  bool page_locks = false;
};
Refusals& refusals();

/// Puts work of a library into the stream.
void enqueue(cudaStream_t stream, std::function<void()> work);
/// Puts a grid of `blocks` blocks of `threads` threads into the stream; each thread calls `body`.
void enqueue_grid(cudaStream_t stream,
                  std::size_t blocks,
                  unsigned threads,
                  std::function<void()> body);

/// Aborts where a kernel is given a pointer to the host's memory.
void must_be_on_device(const void* p);
template <class T>
void check_argument(const T& value) {
  if constexpr (std::is_pointer_v<T>) must_be_on_device(value);
}

/// A kernel may read its arguments, which lie here.
#ifdef GV_HOST_WATCH
void know_arguments(const void* p, std::size_t bytes);
#else
inline void know_arguments(const void*, std::size_t) {}
#endif

template <class... Parameters>
struct Launch {
  void (*kernel)(Parameters...);
  std::tuple<Parameters...> arguments;
  void operator()() const {
    know_arguments(this, sizeof *this);
    std::apply(kernel, arguments);
  }
};

/// A launch: the arguments are converted and copied now.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...),
            std::size_t blocks,
            unsigned threads,
            cudaStream_t stream,
            Arguments... arguments) {
  const std::tuple<Parameters...> all(arguments...);
  std::apply([](const auto&... each) { (check_argument(each), ...); }, all);
  enqueue_grid(stream, blocks, threads, Launch<Parameters...>{kernel, all});
}

}  // namespace gv::host_cuda

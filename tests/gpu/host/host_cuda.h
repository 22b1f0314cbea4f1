#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>

#include "cuda_runtime.h"

// CUDA without a device, for tests: the parts of the runtime, cuBLAS and cuDNN that gpu/ calls, on
// the CPU. Kernels run block by block, with a block's threads as fibers that stop at barriers and
// shuffles. Everything that CUDA does not guarantee, such as the order of streams without an event
// between, is drawn at random, so that a program that relies on it fails for some seed.
//
//   GV_HOST_ORDER    eager: work is done at once; late: when the host waits for it; ahead: when the
//                    host waits, after all possible work of other streams; random: drawn among the
//                    orders that events allow, with one stream ahead for a while
//   GV_HOST_THREADS  up, down or random: order of a block's threads between two barriers
//   GV_HOST_BLOCKS   up, down or random: order of a grid's blocks
//   GV_HOST_GUARD    1: the host may not touch the device's memory
//   GV_HOST_WATCH    0: accesses of kernels are not watched, even if they were built for it
//   GV_HOST_SEED     seed of all random draws
//   GV_HOST_CAPABILITY  compute capability of the devices, times ten; 90
//   GV_HOST_DEVICES  number of devices; 1

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
/// Returns the settings of the environment, read once.
const Settings& settings();
/// Changes the order of the streams, for a test of one order; returns the previous one.
When take_order(When order);

/// Reports a use that no device allows, and aborts.
[[noreturn]] void problem(const std::string& what);

/// Amounts of work until now, for tests that count.
struct Counts {
  std::size_t kernels = 0, blocks = 0;
  std::size_t products = 0;  ///< calls of cuBLAS and cuDNN
  std::size_t copies = 0, sets = 0, waits = 0, records = 0, synchronizations = 0, graphs = 0;
  /// Bytes of copies between host and device, and bytes of the copies that may run during an
  /// earlier kernel of another stream: neither an event nor a wait of the host is between.
  std::size_t bus_bytes = 0, bus_bytes_beside = 0;
  /// Bytes of such copies with host memory that is not page-locked; to memory that cudaHostRegister
  /// locked; and from memory that it locked for reading.
  std::size_t pageable_bytes = 0, to_registered = 0, from_registered = 0;
  /// Returns the number of operations that a device must start.
  std::size_t operations() const { return kernels + products + copies + sets; }
};
Counts& counts();

/// Makes one allocation fail, after `after` successful ones; below 0, none fails.
void fail_allocation(long after);
/// Return the number of live allocations, on the device and of pinned memory, and the device's
/// bytes.
std::size_t live_allocations();
std::size_t live_device_bytes();

/// Requests that a driver or a library may refuse.
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

/// Aborts if a kernel gets a pointer to the host's memory.
void must_be_on_device(const void* p);
template <class T>
void check_argument(const T& value) {
  if constexpr (std::is_pointer_v<T>) must_be_on_device(value);
}

/// Announces a kernel's arguments, which it may read.
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

/// Launches a kernel; the arguments are converted and copied at once.
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

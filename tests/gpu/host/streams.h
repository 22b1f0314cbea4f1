#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "tests/gpu/host/host_cuda.h"
#include "tests/gpu/host/watch.h"

// Streams as queues: what is given to one is carried out in its order, and that of two in any order
// that events allow.

namespace gv::host_cuda {

/// An event as it was recorded once: reached when its stream has come so far.
struct Mark {
  bool reached = false;
  HostStream* stream = nullptr;
  Place place;
  double seconds = 0;  ///< when, by the host's clock
};

/// Some of the host's memory.
struct Range {
  char* begin = nullptr;
  std::size_t bytes = 0;
};

struct Operation {
  std::function<void()> run{};    ///< null: nothing
  std::shared_ptr<Mark> waits{};  ///< for this, before it runs
  std::shared_ptr<Mark> marks{};  ///< this, when it has run
  Range reads{};                  ///< of the host's memory
  Range writes{};                 ///< torn until somebody waits for it
  Place place{};
  bool works = false;        ///< a kernel, or a library's work
  std::size_t over_bus = 0;  ///< bytes that go from host to device or back
};

/// Keeps a call to itself: one at a time, as a kernel may be under way in another thread.
using Call = std::lock_guard<std::recursive_mutex>;
std::recursive_mutex& calls();

/// Returns the source of all that is drawn.
std::mt19937& draws();
/// Notes the error for cudaGetLastError().
cudaError_t failed(cudaError_t error);

/// The stream, or the default one of null. Aborts where it is none.
HostStream& stream_of(cudaStream_t stream);
/// Adds to the stream's queue, or to the graph that it records.
void put(HostStream& stream, Operation operation);
bool records(const HostStream& stream);
/// Carries out what is in the stream, and what must be done before.
void drain(HostStream& stream);
/// Does as drain(), and the host goes on only then.
void wait_for(HostStream& stream);
/// Does the same up to what was recorded.
void wait_for(const Mark& mark);
/// Returns whether this thread records: then the recording is broken, and the call is refused.
bool refused_while_recording();

/// Returns whether a copy that was asked for and is not done reads or writes any of this memory.
bool under_way(const Range& memory);

/// Opens the device's memory to kernels, or shuts it for the host (GV_HOST_GUARD).
void open_memory(bool open);

/// Runs all threads of all blocks of a grid.
void run_grid(std::size_t blocks, unsigned threads, const std::function<void()>& body);

}  // namespace gv::host_cuda

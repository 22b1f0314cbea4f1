#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "tests/gpu/host/host_cuda.h"
#include "tests/gpu/host/watch.h"

// Streams as queues: operations of one stream run in order, those of two streams in any order that
// events allow.

namespace gv::host_cuda {

/// One recording of an event: reached when its stream has come to this point.
struct Mark {
  bool reached = false;
  HostStream* stream = nullptr;
  Place place;
  double seconds = 0;  ///< time by the host's clock
};

/// A range of the host's memory.
struct Range {
  char* begin = nullptr;
  std::size_t bytes = 0;
};

struct Operation {
  std::function<void()> run{};    ///< null if it does no work
  std::shared_ptr<Mark> waits{};  ///< mark to wait for before it runs
  std::shared_ptr<Mark> marks{};  ///< mark to set when it has run
  Range reads{};                  ///< host memory that it reads
  Range writes{};                 ///< undefined until the host waits for it
  Place place{};
  bool works = false;        ///< whether it is a kernel or a library's work
  std::size_t over_bus = 0;  ///< bytes between host and device
};

/// Serializes calls, because a kernel may be under way in another thread.
using Call = std::lock_guard<std::recursive_mutex>;
std::recursive_mutex& calls();

/// Returns the source of random draws.
std::mt19937& draws();
/// Stores the error for cudaGetLastError(), and returns it.
cudaError_t failed(cudaError_t error);

/// Returns the stream, or the default one for null. Aborts if it is no stream.
HostStream& stream_of(cudaStream_t stream);
/// Adds to the stream's queue, or to the graph that it records.
void put(HostStream& stream, Operation operation);
bool records(const HostStream& stream);
/// Performs the work in the stream, and the work that must precede it.
void drain(HostStream& stream);
/// Does as drain(), and records that the host has waited.
void wait_for(HostStream& stream);
/// Does as wait_for(stream), up to the recorded mark.
void wait_for(const Mark& mark);
/// Returns whether this thread records: then it breaks the recording, and the call is refused.
bool refused_while_recording();

/// Returns whether an unfinished copy reads or writes any of this memory.
bool under_way(const Range& memory);

/// Opens the device's memory to kernels, or closes it for the host (GV_HOST_GUARD).
void open_memory(bool open);

/// Runs all threads of all blocks of a grid.
void run_grid(std::size_t blocks, unsigned threads, const std::function<void()>& body);

}  // namespace gv::host_cuda

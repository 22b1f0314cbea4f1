#include "tests/gpu/host/streams.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

struct HostGraph {
  std::vector<gv::host_cuda::Operation> operations;
};
struct HostStream {
  std::deque<gv::host_cuda::Operation> queue;
  HostGraph* into = nullptr;  ///< graph that it records, or null
  bool broken = false;        ///< whether the recording failed
  std::uint32_t number = 0;
  std::uint32_t steps = 0;     ///< number of issued operations
  std::uint32_t worked = 0;    ///< newest step that is a kernel or a library's work
  gv::host_cuda::Clock after;  ///< steps that precede its next operation
};
struct HostEvent {
  std::shared_ptr<gv::host_cuda::Mark> last;  ///< null if never recorded
};

namespace gv::host_cuda {
namespace {

HostStream of_default;
std::vector<HostStream*> streams{&of_default};
thread_local HostStream* recording = nullptr;  ///< recorded by this thread

/// Steps that the host has waited for; a wait of one host thread counts for all. Steps of destroyed
/// streams stay, and their numbers are reused.
Clock waited_for{0};
std::vector<std::uint32_t> free_numbers;

void join(Clock& to, const Clock& from) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t k = 0; k < from.size(); ++k) to[k] = std::max(to[k], from[k]);
}
void reach(Clock& clock, std::uint32_t stream, std::uint32_t step) {
  if (clock.size() <= stream) clock.resize(stream + 1);
  clock[stream] = std::max(clock[stream], step);
}

void number(HostStream& stream) {
  if (free_numbers.empty()) {
    stream.number = static_cast<std::uint32_t>(waited_for.size());
    waited_for.push_back(0);
    return;
  }
  stream.number = free_numbers.back();
  free_numbers.pop_back();
  stream.steps = waited_for[stream.number];
}

void host_has_waited(HostStream& stream) {
  join(waited_for, stream.after);
  reach(waited_for, stream.number, stream.steps);
}

/// Returns the place of the next operation in the stream.
Place next_place(HostStream& stream) {
  join(stream.after, waited_for);
  return {stream.number, ++stream.steps, std::make_shared<const Clock>(stream.after)};
}

bool overlap(const Range& a, const Range& b) {
  return a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

/// Destroys the host memory that a copy will write: its data are undefined until the host waits,
/// unless the stream has yet to read them.
void tear(const HostStream& stream, const Range& writes) {
  if (writes.bytes == 0) return;
  for (const Operation& operation : stream.queue)
    if (operation.reads.bytes > 0 && overlap(operation.reads, writes)) return;
  std::memset(writes.begin, 0xFF, writes.bytes);
}

void carry_out(HostStream& stream) {
  const Operation operation = std::move(stream.queue.front());
  stream.queue.pop_front();
  open_memory(true);
  if (operation.run) {
    begin_operation(operation.place);
    operation.run();
  }
  if (!operation.marks) return;
  operation.marks->reached = true;
  operation.marks->seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool waits(const HostStream& stream) {
  const std::shared_ptr<Mark>& mark = stream.queue.front().waits;
  return mark && !mark->reached;
}

/// Performs one operation of the stream, or of the stream that it waits for.
void progress(HostStream& stream) {
  HostStream* next = &stream;
  while (waits(*next)) next = next->queue.front().waits->stream;
  carry_out(*next);
}

bool can_go_on(const HostStream& stream) {
  return !stream.queue.empty() && !waits(stream);
}

/// Performs one operation of any stream that can continue: of the one that is ahead, while
/// possible.
void progress_somewhere() {
  static HostStream* ahead = nullptr;
  constexpr unsigned for_a_while = 32;
  const bool there = std::ranges::find(streams, ahead) != streams.end();
  if (there && can_go_on(*ahead) && draws()() % for_a_while != 0) return carry_out(*ahead);
  std::vector<HostStream*> can;
  for (HostStream* stream : streams)
    if (can_go_on(*stream)) can.push_back(stream);
  if (!can.empty()) carry_out(*(ahead = can[draws()() % can.size()]));
}

/// Performs all possible work of the other streams.
void progress_elsewhere(const HostStream& stream) {
  for (bool some = true; some;) {
    some = false;
    for (HostStream* other : std::vector<HostStream*>(streams)) {
      if (other == &stream || !can_go_on(*other)) continue;
      carry_out(*other);
      some = true;
    }
  }
}

/// Returns whether another stream has earlier work that no event and no wait orders before this.
bool may_run_beside_work(const HostStream& stream) {
  return std::ranges::any_of(streams, [&stream](const HostStream* other) {
    const std::size_t n = other->number;
    const std::uint32_t before = n < stream.after.size() ? stream.after[n] : 0;
    return other != &stream && other->worked > before;
  });
}

void count(HostStream& stream, const Operation& operation) {
  if (operation.works) stream.worked = operation.place.step;
  if (operation.over_bus == 0) return;
  counts().bus_bytes += operation.over_bus;
  if (may_run_beside_work(stream)) counts().bus_bytes_beside += operation.over_bus;
}

}  // namespace

std::recursive_mutex& calls() {
  static std::recursive_mutex mutex;
  return mutex;
}

std::mt19937& draws() {
  static std::mt19937 rng(settings().seed);
  return rng;
}

HostStream& stream_of(cudaStream_t stream) {
  if (stream == nullptr) return of_default;
  if (std::ranges::find(streams, stream) == streams.end()) problem("there is no such stream");
  return *stream;
}

bool records(const HostStream& stream) {
  return stream.into != nullptr;
}

void put(HostStream& stream, Operation operation) {
  if (stream.into != nullptr) {
    if (recording != &stream) problem("a thread gives work to a stream that another one records");
    stream.into->operations.push_back(std::move(operation));
    return;
  }
  operation.place = next_place(stream);
  if (operation.waits) {
    const Place& other = operation.waits->place;
    join(stream.after, *other.after);
    reach(stream.after, other.stream, other.step);
  }
  if (operation.marks) operation.marks->place = operation.place;
  count(stream, operation);
  if (settings().when != When::eager) tear(stream, operation.writes);
  stream.queue.push_back(std::move(operation));
  if (settings().when == When::eager) drain(stream);
  while (settings().when == When::random && draws()() % 3 == 0) progress_somewhere();
  open_memory(false);
}

void drain(HostStream& stream) {
  while (!stream.queue.empty()) {
    if (settings().when == When::random && draws()() % 4 != 0) progress_somewhere();
    if (settings().when == When::ahead) progress_elsewhere(stream);
    if (!stream.queue.empty()) progress(stream);
  }
  open_memory(false);
}

void wait_for(HostStream& stream) {
  drain(stream);
  host_has_waited(stream);
}

void wait_for(const Mark& mark) {
  while (!mark.reached) {
    if (settings().when == When::random && draws()() % 4 != 0) progress_somewhere();
    if (settings().when == When::ahead) progress_elsewhere(*mark.stream);
    if (!mark.reached) progress(*mark.stream);
  }
  join(waited_for, *mark.place.after);
  reach(waited_for, mark.place.stream, mark.place.step);
  open_memory(false);
}

bool under_way(const Range& memory) {
  return std::ranges::any_of(streams, [&](const HostStream* stream) {
    return std::ranges::any_of(stream->queue, [&](const Operation& operation) {
      return overlap(operation.reads, memory) || overlap(operation.writes, memory);
    });
  });
}

bool refused_while_recording() {
  if (recording == nullptr) return false;
  recording->broken = true;
  return true;
}

void enqueue(cudaStream_t stream, std::function<void()> work) {
  const Call call(calls());
  put(stream_of(stream), {.run =
                              [work = std::move(work)] {
                                ++counts().products;
                                work();
                              },
                          .works = true});
}

void enqueue_grid(cudaStream_t stream,
                  std::size_t blocks,
                  unsigned threads,
                  std::function<void()> body) {
  const Call call(calls());
  constexpr std::size_t most_blocks = 0x7fffffff;
  constexpr unsigned most_threads = 1024;
  if (blocks == 0 || blocks > most_blocks || threads == 0 || threads > most_threads) {
    failed(cudaErrorInvalidConfiguration);
    return;
  }
  put(stream_of(stream),
      {.run = [blocks, threads, body = std::move(body)] { run_grid(blocks, threads, body); },
       .works = true});
}

}  // namespace gv::host_cuda

using namespace gv::host_cuda;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const Call call(calls());
  if (flags != cudaStreamNonBlocking)
    problem("a stream that waits for the default stream is not modelled");
  streams.push_back(*stream = new HostStream);
  number(**stream);
  return cudaSuccess;
}

/// CUDA does not wait here, but memory that the stream uses must not be freed before it is done.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Call call(calls());
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  wait_for(stream_of(stream));
  free_numbers.push_back(stream->number);
  std::erase(streams, stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Call call(calls());
  ++counts().synchronizations;
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  wait_for(stream_of(stream));
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const Call call(calls());
  ++counts().waits;
  if (records(stream_of(stream))) return failed(cudaErrorStreamCaptureUnsupported);
  if (event->last) put(stream_of(stream), {.waits = event->last});
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new HostEvent;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Call call(calls());
  ++counts().records;
  HostStream& in = stream_of(stream);
  if (records(in)) return failed(cudaErrorStreamCaptureUnsupported);
  event->last = std::make_shared<Mark>();
  event->last->stream = &in;
  put(in, {.marks = event->last});
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Call call(calls());
  ++counts().synchronizations;
  if (refused_while_recording()) return failed(cudaErrorStreamCaptureUnsupported);
  if (event->last) wait_for(*event->last);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  if (!from->last || !to->last || !from->last->reached || !to->last->reached)
    return failed(cudaErrorInvalidResourceHandle);
  *milliseconds = static_cast<float>(1e3 * (to->last->seconds - from->last->seconds));
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const Call call(calls());
  if (stream == nullptr || mode != cudaStreamCaptureModeThreadLocal || recording != nullptr ||
      refusals().recordings)
    return failed(cudaErrorStreamCaptureUnsupported);
  stream_of(stream).into = new HostGraph;
  stream->broken = false;
  recording = stream;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Call call(calls());
  *graph = std::exchange(stream_of(stream).into, nullptr);
  recording = nullptr;
  if (!stream->broken) return cudaSuccess;
  delete std::exchange(*graph, nullptr);
  return failed(cudaErrorStreamCaptureInvalidated);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable,
                                 cudaGraph_t graph,
                                 unsigned long long) {
  *executable = new HostGraph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const Call call(calls());
  ++counts().graphs;
  for (const Operation& operation : executable->operations) put(stream_of(stream), operation);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

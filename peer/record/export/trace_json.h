#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "peer/record/export/moments.h"

namespace gv {

/// Above it, viewers of traces give up (Perfetto's on JSON of some 100 MB).
inline constexpr std::uint64_t most_trace_bytes = 200'000'000;

/// The moments in the Chrome trace event format, for ui.perfetto.dev or chrome://tracing: a process
/// per peer, a slice per moment, an arrow from a neighbour to whoever waited for it, and counters
/// of bytes, staleness and queues. `write` takes the text in pieces. Times are microseconds from
/// the first moment on.
void write_trace(const std::vector<PeerMoments>& peers,
                 const std::function<void(std::string_view)>& write);

/// Throws std::invalid_argument with the range of rounds that fits when the trace of `range` would
/// be larger than `most` bytes.
void check_trace_size(const std::vector<PeerMoments>& peers,
                      const RoundRange& range,
                      std::uint64_t most = most_trace_bytes);

/// Writes it into a file, compressed where its name ends with .gz: first to a temporary one, which
/// is then renamed. Throws std::runtime_error with the path.
void write_trace_file(const std::string& path, const std::vector<PeerMoments>& peers);

/// The numbers of peers and moments that went into a trace.
struct WrittenTrace {
  std::size_t peers = 0;
  std::size_t moments = 0;
};

/// Writes what the peers of a run recorded of these rounds as a timeline for Perfetto (trace_json).
/// Throws std::invalid_argument where nothing was recorded, or too much for one file, and
/// std::runtime_error where the file cannot be written.
WrittenTrace write_run_trace(const std::string& folder,
                             const std::string& output,
                             const RoundRange& range);

}  // namespace gv

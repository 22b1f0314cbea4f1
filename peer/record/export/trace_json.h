#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "peer/record/export/moments.h"

namespace gv {

/// Maximum size of a trace; viewers fail on larger ones (Perfetto at some 100 MB of JSON).
inline constexpr std::uint64_t most_trace_bytes = 200'000'000;

/// Writes the moments in the Chrome trace event format, for ui.perfetto.dev or chrome://tracing: a
/// process per peer, a slice per moment, an arrow from a neighbour to a peer that waited for it,
/// and counters of bytes, staleness and queues. `write` receives the text in pieces. Times are
/// microseconds since the first moment.
void write_trace(const std::vector<PeerMoments>& peers,
                 const std::function<void(std::string_view)>& write);

/// Throws std::invalid_argument if the trace of `range` would be larger than `most` bytes; the
/// message names the range of rounds that fits.
void check_trace_size(const std::vector<PeerMoments>& peers,
                      const RoundRange& range,
                      std::uint64_t most = most_trace_bytes);

/// Writes the trace to a file, compressed if its name ends with .gz: first to a temporary file,
/// which is then renamed. Throws std::runtime_error with the path.
void write_trace_file(const std::string& path, const std::vector<PeerMoments>& peers);

/// Number of peers and moments in a trace.
struct WrittenTrace {
  std::size_t peers = 0;
  std::size_t moments = 0;
};

/// Writes a run's records of `range` as a timeline for Perfetto. Throws std::invalid_argument if
/// the run recorded no moments or too many for one file, std::runtime_error if it cannot be
/// written.
WrittenTrace write_run_trace(const std::string& folder,
                             const std::string& output,
                             const RoundRange& range);

}  // namespace gv

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/seam/message.h"

namespace gv {

/// An interval that a peer spent in one state (metrics.h); seconds since the run began.
struct Moment {
  Round round = 0;
  std::size_t activity = 0;  ///< index in activity_names
  double begin = 0, end = 0;
  std::optional<PeerId> with{};  ///< neighbour that the peer waited for
};

/// Sums over `span` rounds of a peer, from `round` on.
struct RoundSums {
  Round round = 0;
  double span = 1;
  double begin = 0;  ///< seconds
  double bytes = 0;  ///< bytes sent
  double staleness = 0;
  double queue = 0;
};

struct PeerMoments {
  PeerId peer = 0;
  std::vector<Moment> moments{};  ///< moments of all its lives, in the order of the files
  std::vector<RoundSums> rounds{};
};

/// Range of rounds, both ends included.
struct RoundRange {
  Round first = 0;
  Round last = 0;
};

/// Reads the records of the rounds in `range` from peers/NNN/moments.K.npy and rounds.K.npy. Throws
/// std::runtime_error with path and row if a file is damaged, and with a sentence if the run
/// recorded no moments at all.
std::vector<PeerMoments> read_moments(const std::string& folder, const RoundRange& range);

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

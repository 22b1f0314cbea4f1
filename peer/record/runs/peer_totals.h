#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/formats/npy_matrix.h"
#include "peer/record/report/culprits.h"
#include "peer/record/runs/stored_run.h"

namespace gv {

/// Seconds that a peer waited for a neighbour, and the number of their exchanges.
struct StoredNeighbour {
  double late = 0, wire = 0, longest_wait = 0;
  double exchanges = 0;
};

/// Contents of peers/003/totals.json (grapevine.totals/1).
struct PeerTotals {
  std::uint64_t peer = 0;
  double seconds = 0;
  ActivitySeconds states{};
  double hidden_wire = 0;
  std::map<std::uint64_t, StoredNeighbour> neighbours;
  std::optional<double> cpu_seconds, peak_memory;
  std::vector<double> staleness;  ///< counts of staleness 0, 1, 2, 3-4, 5-8, ...
};

/// Reads a run's totals, ascending by peer; none if none were written. Throws UnusableRun.
std::vector<PeerTotals> read_peer_totals(const std::string& run_folder);

/// Reads the same totals in the form that culprits() takes.
std::vector<PeerTimes> read_peer_times(const std::string& run_folder);

/// Reads the sums that a comparison shows: CPU seconds and peak memory, if every peer has them.
void read_totals(const std::string& run_folder, StoredRun& run);

/// A row of peers/003/rounds.K.npy: `span` rounds that began at `begin`.
struct StoredRounds {
  double round = 0, span = 0, begin = 0;
  ActivitySeconds states{};
  double hidden_wire = 0, bytes = 0, staleness = 0, queue = 0;
};
/// A row of peers/003/moments.K.npy: a stay in one state.
struct StoredMoment {
  double round = 0;
  std::size_t state = 0;  ///< index in activity_names
  double begin = 0, end = 0;
  std::optional<std::uint64_t> with;  ///< peer that it waited for
};

/// Read all lives of a peer, in sequence; empty if nothing was recorded. Throw UnusableRun.
std::vector<StoredRounds> read_peer_rounds(const std::string& run_folder, std::uint64_t peer);
std::vector<StoredMoment> read_peer_moments(const std::string& run_folder, std::uint64_t peer);

}  // namespace gv

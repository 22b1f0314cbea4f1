#pragma once

#include <string>
#include <vector>

#include "peer/show/page/svg.h"

namespace gv {

/// The time that one peer waited for another.
struct Wait {
  std::size_t who = 0, whom = 0;
  double late = 0;  ///< seconds in which nothing had been sent yet
  double wire = 0;  ///< seconds in which it was on its way
};

struct WaitGraph {
  std::size_t peers = 0;
  double seconds = 0;                   ///< wall clock of a peer, of which the waits are a share
  std::vector<Wait> waits = {};         ///< at most one for each ordered pair
  std::vector<svg::Point> places = {};  ///< of the peers in a square of side 1, or empty: a circle
  std::vector<std::string> hosts = {};  ///< by peer, or empty: all on one machine
  bool wraps = false;  ///< they stand on a torus: an edge round its border is two half lines
};

/// The graph, each edge as wide and as warm as both its ends wait for each other. Empty beyond
/// most_graph_peers, without a wait, or for a peer that is not there.
std::string waiting_graph(const WaitGraph& waiting);

/// The matrix: rows wait for columns. Beyond 32 peers a cell is a block of them, with their mean.
std::string waiting_matrix(const WaitGraph& waiting);

constexpr std::size_t most_graph_peers = 128, most_matrix_cells = 32;

}  // namespace gv

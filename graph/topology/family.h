#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/topology.h"

namespace gv {

/// A topology by name and parameters, before the number of peers is known.
struct TopologySpec {
  std::string kind = "ring";
  std::vector<PeerId> shape;  ///< grid, torus, king-torus: { rows, columns }; empty: the most
                              ///< square factorization of n
  PeerId degree = 3;          ///< random-regular
  double p = 0.3;             ///< erdos-renyi: probability of an edge
  PeerId k = 4;       ///< small-world, ring-lattice: neighbours in the (starting) lattice; even
  double beta = 0.1;  ///< small-world: probability that an edge is rewired
  PeerId shifts = 0;  ///< equi-static: shifts drawn; 0: ceil(log2 n)
  std::uint64_t seed = 1;  ///< random families
  std::string file;        ///< kind "file": see graph/formats/format.h
};

/// What `graph list` prints: one row per family.
struct Family {
  std::string_view kind;        ///< "torus"
  std::string_view parameters;  ///< "RxC", "" when there are none
  std::string_view summary;     ///< one line, with the source
};
const std::vector<Family>& families();
bool has_shape(const TopologySpec& spec);
bool is_equi_static(const TopologySpec& spec);

/// Parses `kind[:params]`: "ring", "torus:4x4", "random-regular:degree=3,seed=1",
/// "erdos-renyi:p=0.3,seed=2", "small-world:k=4,beta=0.1,seed=1", "file:path/to.edges". Throws
/// std::invalid_argument that names what is wrong and lists the kinds (with the nearest one
/// suggested).
TopologySpec parse_topology(std::string_view text);

/// The inverse of parse_topology; only parameters that the family has.
std::string to_string(const TopologySpec& spec);

/// Builds the graph on n peers. Throws std::invalid_argument with both numbers when it is
/// impossible
/// ("torus 4x4 has 16 peers, the fleet has 15").
Topology build(const TopologySpec& spec, PeerId n);

/// Reads an edge list, whatever the extension; see graph/formats/format.h for n and the checks.
Topology read_edge_list(const std::string& path, PeerId n = 0);

}  // namespace gv

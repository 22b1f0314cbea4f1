#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/spec/parameters.h"
#include "graph/topology/topology.h"

namespace gv {

/// An eigenvalue of W and its multiplicity.
struct Eigenvalue {
  std::complex<double> value;
  double count = 1;
};

/// The ends of W's spectrum, without the eigenvalue 1 of the all-ones vector.
struct ExtremeEigenvalues {
  double gap2 = 1;               ///< 1 - lambda2, computed so that nothing cancels
  double lambda_n = 0;           ///< the smallest
  std::optional<double> sigma2;  ///< only for a directed family, which has nothing else: its second
                                 ///< largest singular value
};

/// The ways in which a page draws a graph.
enum class Drawing {
  circle,       ///< all peers on one
  open_circle,  ///< on a circle with a gap, since the last peer is no neighbour of the first
  hub,          ///< peer 0 in the middle of the others
  tree,         ///< level by level, peer 0 at the top
  lattice       ///< rows and columns; what leaves one border comes in at the other
};

/// Limits of the search of `graph best`.
struct SearchScope {
  PeerId peers = 0;
  PeerId max_degree = 0;
  int seeds = 1;  ///< seeds tried for each random family
};
/// GraphParameters to try, as text. Only the best graph of each group is kept.
using SearchGroups = std::vector<std::vector<std::string>>;

/// A family of topologies: one constant, in its own file. graph/CMakeLists.txt lists all.
struct TopologyFamily {
  std::string_view name;     ///< "random-regular"
  std::string_view summary;  ///< one line, with the source
  std::span<const GraphParameter> parameters = {};
  std::string_view example = {};  ///< parameters with which it can be built on 16 peers
  /// Throws std::invalid_argument with both numbers if the graph is impossible.
  Topology (*build)(const GraphParameters& parameters, PeerId n) = nullptr;
  Drawing drawing = Drawing::circle;
  /// Returns the spectrum of Metropolis weights, n >= 2. Null or empty if it has no formula.
  std::optional<ExtremeEigenvalues> (*extremes)(const GraphParameters& parameters,
                                                PeerId n) = nullptr;
  /// Returns all eigenvalues but the 1 of the all-ones vector; given if `extremes` is.
  std::vector<Eigenvalue> (*eigenvalues)(const GraphParameters& parameters, PeerId n) = nullptr;
  /// Returns the candidates of `graph best`. Null if never the best, or the user's own graph.
  SearchGroups (*searched)(const SearchScope& scope) = nullptr;
};

/// Returns for `searched` a family without parameters, tried as it is.
SearchGroups search_alone(const SearchScope& scope);
/// Returns for `searched` every shape of at least 3 rows and 3 columns.
SearchGroups search_shapes(const SearchScope& scope);
/// `parameters` followed by seed=1, seed=2, ...
std::vector<std::string> with_seeds(const std::string& parameters, const SearchScope& scope);

extern const TopologyFamily ring_family;

/// A topology by family and parameters, before the number of peers is known.
struct TopologySpec {
  const TopologyFamily* family = &ring_family;
  GraphParameters parameters;

  bool is_file() const;             ///< the user's own graph
  const std::string& file() const;  ///< the path, when it is one
};

/// The inverse of parse_topology (graph/topologies.h).
std::string to_string(const TopologySpec& spec);

/// The graph on n peers, named by its full specification. Throws std::invalid_argument with both
/// numbers when it is impossible ("torus 4x4 has 16 peers, the fleet has 15").
Topology build(const TopologySpec& spec, PeerId n);

// Circulant graphs look alike from every peer: their eigenvalues are the discrete Fourier
// transform of a row of W. Davis, "Circulant matrices", Wiley 1979.

/// e^(2 pi i k / n), from an angle that is reduced exactly.
inline std::complex<double> root_of_unity(std::uint64_t k, PeerId n) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(k % n) / n);
}

/// The eigenvalues m = 1 .. n - 1 of a circulant of real weights, value(m) being the m-th: those of
/// m and n - m are conjugate, so one stands for both.
template <class Value>
std::vector<Eigenvalue> circulant_eigenvalues(PeerId n, Value value) {
  std::vector<Eigenvalue> values;
  for (PeerId m = 1; m <= n / 2; ++m) values.push_back({value(m), 2 * m == n ? 1.0 : 2.0});
  return values;
}

/// 1, 2, 4, ... below n: the hops of the exponential graphs.
inline std::vector<PeerId> doubling_hops(PeerId n) {
  std::vector<PeerId> hops;
  for (std::uint64_t hop = 1; hop < n; hop *= 2) hops.push_back(static_cast<PeerId>(hop));
  return hops;
}

inline constexpr GraphParameter shape_parameter{
    "shape", GraphParameter::Kind::shape,
    0,       0,
    0,       "rows and columns; by default as square as possible"};

/// Returns the rows and columns for n peers: those of the shape, or if it is open the most square
/// factorization of n. Throws std::invalid_argument with both numbers unless the shape has n peers.
LatticeShape shape_for(std::string_view family, const LatticeShape& shape, PeerId n);

/// The parameters with an open shape filled in.
GraphParameters with_shape(const TopologyFamily& family, GraphParameters parameters, PeerId n);

/// Known numbers of a graph without its edges. All its peers have the same degree.
struct GraphCounts {
  PeerId peers = 0;
  std::uint64_t edges = 0;
  PeerId degree = 0;
  std::int64_t diameter = 0;
};

/// Counts a graph with too many edges to hold in memory, for which its family's formulas are used
/// (closed_form_spectrum, closed_form_modes); nothing if the graph can be built.
std::optional<GraphCounts> counted(const TopologySpec& spec, PeerId n);

}  // namespace gv

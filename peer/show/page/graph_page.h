#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/mixing/share_weights.h"
#include "graph/spectrum/modes.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topology/family.h"

namespace gv {

/// The facts of a report about one topology.
struct GraphRow {
  Topology topology;
  std::optional<GraphCounts> counts{};  ///< if set, `topology` has a name and no edges
  std::string weights;
  std::size_t degree_min = 0, degree_max = 0;
  std::optional<std::int64_t> diameter;  ///< -1 when not connected; none when too large to find
  bool connected = false;
  Spectrum spectrum;
  std::optional<Estimate> s1_lian, s1_atc, n_eff;
  std::optional<PushSum> push_sum;  ///< for directed, connected graphs that are not too large
  double seconds = 0;               ///< time to compute the spectrum
  std::optional<Modes> modes;       ///< kept if they are drawn

  PeerId peers() const { return counts ? counts->peers : topology.size(); }
  std::uint64_t edges() const { return counts ? counts->edges : topology.edges().size(); }
};

/// Rounds of averaging until the worst disagreement is a thousandth; infinite if never.
double rounds_to_thousandth(const Spectrum& s);

// Cells of a table, the same on a terminal and on a page; "-" for unknown values.
std::string rounds_cell(const Spectrum& s);
std::string degree_cell(const GraphRow& row);
std::string diameter_cell(const GraphRow& row);
std::string eigenvalue_cell(const std::optional<double>& value);
std::string estimate_cell(const std::optional<Estimate>& e);

/// `graph report` as one self-contained page: the table, the graphs, their spectra and their
/// speed of averaging. Style and pictures are inline, without scripts. `discount` is that of n_eff.
std::string graph_page(const std::vector<GraphRow>& rows, double discount);

/// Writes a temporary file, then renames it. Throws std::runtime_error with the path.
void write_page(const std::string& path, const std::string& page);

}  // namespace gv

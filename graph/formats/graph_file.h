#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/mixing/mixing.h"
#include "graph/topology/family.h"
#include "graph/topology/topology.h"

namespace gv {

/// The largest graph or weight file that is read: an edge list of some 50 million edges, or a W of
/// 11,000 peers.
inline constexpr std::uint64_t most_file_bytes = std::uint64_t{1} << 30;

/// Returns all bytes of a regular file. A pipe or a device is refused, because it could keep the
/// program waiting or never end. Throws GraphFileError if it cannot be read or is longer than
/// `most`.
std::string file_bytes(const std::string& path, std::uint64_t most = most_file_bytes);

/// Returns the text without the byte order mark with which some programs begin UTF-8.
inline std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// The family `file:PATH`: the user's own graph, in any of the formats below.
extern const TopologyFamily file_family;

TopologySpec file_topology(const std::string& path);

/// A file format of graphs. Every one keeps the edges, their directions and their weights.
struct GraphFormat {
  std::string_view name;        ///< "graphml"
  std::string_view extensions;  ///< ".graphml .xml"
  std::string_view summary;
};
const std::vector<GraphFormat>& graph_formats();
/// Returns the name of the format of a path's extension; "edges" for an unknown one.
std::string_view format_of_path(const std::string& path);

/// Reads a graph in the format that the extension names; any other is an edge list. Peers are
/// numbered by their names when those are 0, 1, 2, ... (or n0, n1, ...), else in the order of
/// appearance. n = 0 takes as many peers as there are; else the file may not have more. Throws
/// GraphFileError "path:line: what" on self-loops, gaps in the numbers, an edge given twice with
/// different weights, weights on some edges only, and any other violation of the format.
Topology read_graph(const std::string& path, PeerId n = 0);

/// Returns the file's bytes; `format` is a name of graph_formats. Weights are t.edge_weights, if
/// there are any. In a directed edge u -> v, v receives from u.
std::string write_graph(const Topology& t, std::string_view format);

/// Returns t with the weights of w, so that `mixing_matrix("edge-list", ...)` returns w.
Topology with_weights(Topology t, const MixingMatrix& w);

}  // namespace gv

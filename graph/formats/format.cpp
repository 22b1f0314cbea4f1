#include "graph/formats/format.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include "graph/formats/file_bytes.h"
#include "graph/formats/file_error.h"
#include "graph/formats/listed_graph.h"

namespace gv {
namespace {

struct Codec {
  GraphFormat format;
  ListedGraph (*parse)(std::string_view, const std::string&);
  std::string (*write)(const Topology&);
};

const std::array<Codec, 5>& codecs() {
  static const std::array<Codec, 5> rows{{
      {{"edges", ".edges .edgelist .txt", "`u v` or `u v weight` per line"},
       parse_edge_list,
       to_edge_list},
      {{"json", ".json", "node-link, as networkx.node_link_data"}, parse_node_link, to_node_link},
      {{"dot", ".dot .gv", "Graphviz, without subgraphs"}, parse_dot, to_dot},
      {{"graphml", ".graphml .xml", "one graph, without hyperedges"}, parse_graphml, to_graphml},
      {{"npy", ".npy", "a NumPy matrix: W, or an adjacency matrix"}, parse_npy, to_npy},
  }};
  return rows;
}

/// Formats of other programs, of which some would pass for a list of edges: `0 1 2` of an adjacency
/// list is no edge of weight 2.
void refuse_others(const std::string& path, const std::string& extension) {
  constexpr std::array<std::string_view, 11> others{".gml",
                                                    ".gexf",
                                                    ".adjlist",
                                                    ".net",
                                                    ".paj",
                                                    ".g6",
                                                    ".s6",
                                                    ".graph6",
                                                    ".sparse6",
                                                    ".mtx",
                                                    ".pajek"};
  if (std::ranges::find(others, extension) != others.end())
    refuse_file(path + ": ",
                "graphs in `" + extension +
                    "` are not read; save it as GraphML, such as networkx.write_graphml(G, "
                    "\"graph.graphml\"), or as an edge list");
}

const Codec& codec_of(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return codecs()[0];
  std::string extension = path.substr(dot);
  for (char& c : extension)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const Codec& c : codecs()) {
    std::istringstream list{std::string(c.format.extensions)};
    for (std::string known; list >> known;) {
      if (known == extension) return c;
    }
  }
  refuse_others(path, extension);
  return codecs()[0];
}

}  // namespace

const std::vector<GraphFormat>& graph_formats() {
  static const std::vector<GraphFormat> formats = [] {
    std::vector<GraphFormat> list;
    for (const Codec& c : codecs()) list.push_back(c.format);
    return list;
  }();
  return formats;
}

std::string_view format_of_path(const std::string& path) {
  return codec_of(path).format.name;
}

Topology read_graph(const std::string& path, PeerId n) {
  return to_topology(codec_of(path).parse(without_mark(file_bytes(path)), path), path, n);
}

std::string write_graph(const Topology& t, std::string_view format) {
  std::string known;
  for (const Codec& c : codecs()) {
    if (c.format.name == format) return c.write(t);
    known += ' ' + std::string(c.format.name);
  }
  throw std::invalid_argument("unknown graph format `" + std::string(format) + "`:" + known);
}

Topology with_weights(Topology t, const MixingMatrix& w) {
  t.edge_weights.clear();
  for (const auto& [u, v] : t.edges()) {  // v hears u
    t.edge_weights.push_back(w.row(v).weight_of(u));
  }
  return t;
}

}  // namespace gv

#include "graph/formats/format.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include "graph/formats/file_bytes.h"
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

const Codec& codec_of(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return codecs()[0];
  const std::string extension = path.substr(dot);
  for (const Codec& c : codecs()) {
    std::istringstream list{std::string(c.format.extensions)};
    for (std::string known; list >> known;) {
      if (known == extension) return c;
    }
  }
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
  return to_topology(codec_of(path).parse(file_bytes(path), path), path, n);
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

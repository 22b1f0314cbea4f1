#include "graph/formats/graph_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "graph/formats/file_error.h"
#include "graph/formats/listed_graph.h"
#include "graph/spec/parameters.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

void require_regular(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    refuse_file(path + ": ", "cannot be opened: there is no such file");
  if (fs::is_directory(status)) refuse_file(path + ": ", "is a folder, not a file");
  if (status.type() == fs::file_type::none)
    refuse_file(path + ": ", "cannot be opened: " + error.message());
  if (!fs::is_regular_file(status)) {
    refuse_file(path + ": ",
                "is a pipe or a device, not a regular file: write the content to a file first");
  }
}

constexpr GraphParameter file_parameters[] = {
    {"file", GraphParameter::Kind::path, 0, 0, 0, "path of the file, relative to the fleet file"}};

Topology build_file(const GraphParameters& p, PeerId n) {
  return read_graph(p.text("file"), n);
}

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

/// Formats of other programs; some would pass for a list of edges: `0 1 2` of an adjacency list is
/// no edge of weight 2.
void refuse_others(const std::string& path, const std::string& extension) {
  constexpr std::array<std::string_view, 11> others{".gml",     ".gexf", ".adjlist", ".net",
                                                    ".paj",     ".g6",   ".s6",      ".graph6",
                                                    ".sparse6", ".mtx",  ".pajek"};
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

bool is_id(const std::string& text) {
  return !text.empty() && text.size() <= 8 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the weight in a Python dictionary; none if it has none.
std::optional<double> dictionary_weight(std::string_view text, const std::string& where) {
  constexpr std::string_view key = "'weight':";
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return parse_weight(text.substr(0, text.find_first_of(",} ")), where);
}

ListedEdge parse_line(const std::string& text, const std::string& where) {
  std::istringstream in(text);
  ListedEdge edge{.from = {}, .to = {}, .weight = {}, .where = where};
  if (!(in >> edge.from >> edge.to) || !is_id(edge.from) || !is_id(edge.to))
    refuse_file(where,
                "expected `u v` or `u v weight` with ids from 0, found `" + excerpt(text) + "`");
  std::string rest;
  std::getline(in >> std::ws, rest);
  rest.resize(rest.find_last_not_of(" \t\r") + 1);
  if (rest.empty()) return edge;
  if (rest[0] == '{') {
    edge.weight = dictionary_weight(rest, where);
    return edge;
  }
  if (const auto space = rest.find_first_of(" \t"); space != std::string::npos)
    refuse_file(where, "`" + excerpt(rest.substr(space + 1)) + "` after the edge");
  edge.weight = parse_weight(rest, where);
  return edge;
}

}  // namespace

std::string file_bytes(const std::string& path, std::uint64_t most) {
  require_regular(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse_file(path + ": ", "cannot be opened");
  std::string bytes;
  // The length is counted while reading: a file of /proc, or one that grows, has another size.
  std::array<char, 1 << 16> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    bytes.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > most) {
      refuse_file(path + ": ",
                  "is longer than the " + std::to_string(most) + " bytes that are read");
    }
  }
  if (in.bad()) refuse_file(path + ": ", "cannot be read");
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF"))
    refuse_file(path + ": ", "is UTF-16; save it as UTF-8");
  return bytes;
}

extern constinit const TopologyFamily file_family{
    .name = "file",
    .summary = "by extension: .json .dot .graphml .npy, else an edge list",
    .parameters = file_parameters,
    .example = "graph.edges",
    .build = build_file,
};

TopologySpec file_topology(const std::string& path) {
  TopologySpec spec{&file_family, GraphParameters(file_parameters)};
  spec.parameters.set("file", path);
  return spec;
}

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
  for (const auto& [u, v] : t.edges()) {  // v receives from u
    t.edge_weights.push_back(w.row(v).weight_of(u));
  }
  return t;
}

// Edge list: one `u v` or `u v weight` per line, ids from 0, `#` to the end of a line is a comment.
// The comment `# directed` makes u -> v directed. `u v {'weight': 0.5}`, as networkx writes it, is
// read as well.

ListedGraph parse_edge_list(std::string_view file, const std::string& path) {
  ListedGraph list;
  std::istringstream in{std::string(file)};
  std::string text;
  for (std::size_t number = 1; std::getline(in, text); ++number) {
    if (text.starts_with("# directed")) list.directed = true;
    if (const auto comment = text.find('#'); comment != std::string::npos) text.resize(comment);
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    list.edges.push_back(parse_line(text, path + ":" + std::to_string(number) + ": "));
  }
  if (list.edges.empty()) refuse_file(path + ": ", "no edges");
  return list;
}

std::string to_edge_list(const Topology& t) {
  std::string text = t.directed ? "# directed\n" : "";
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    text += std::to_string(edges[e].first) + ' ' + std::to_string(edges[e].second);
    if (!t.edge_weights.empty()) text += ' ' + shortest(t.edge_weights[e]);
    text += '\n';
  }
  return text;
}

}  // namespace gv

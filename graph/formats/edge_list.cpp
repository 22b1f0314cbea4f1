#include <algorithm>
#include <sstream>

#include "graph/formats/file_error.h"
#include "graph/formats/listed_graph.h"
#include "graph/spec/numbers.h"

// Edge list: one `u v` or `u v weight` per line, ids from 0, `#` to the end of a line is a comment.
// The comment `# directed` makes u -> v directed. `u v {'weight': 0.5}`, as networkx writes it, is
// read as well.

namespace gv {
namespace {

bool is_id(const std::string& text) {
  return !text.empty() && text.size() <= 8 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The weight in a Python dictionary; none when it has none.
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

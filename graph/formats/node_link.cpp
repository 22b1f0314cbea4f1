#include "graph/formats/file_error.h"
#include "graph/formats/json_value.h"
#include "graph/formats/listed_graph.h"
#include "graph/spec/numbers.h"

// JSON node-link: { "directed": false, "nodes": [ { "id": 0 }, ... ], "links": [ { "source": 0,
// "target": 1, "weight": 0.5 }, ... ] }, as networkx.node_link_data writes it; newer networkx calls
// the list "edges".

namespace gv {
namespace {

std::string at(const std::string& path, const JsonValue& v) {
  return path + ":" + std::to_string(v.line) + ": ";
}

/// A name: a number, a string, or what networkx makes of a tuple.
std::string name_of(const JsonValue* v, const JsonValue& holder, const std::string& path) {
  if (v == nullptr)
    refuse_file(at(path, holder), "expected `id` in a node, `source` and `target` in an edge");
  if (v->kind == JsonValue::Kind::number || v->kind == JsonValue::Kind::text) return v->text;
  if (v->kind != JsonValue::Kind::array)
    refuse_file(at(path, *v), "a peer is named by a number or a text");
  std::string name = "(";
  for (const JsonValue& item : v->items) {
    name += name_of(&item, *v, path);
    name += ',';
  }
  return name + ")";
}

const JsonValue& edges_of(const JsonValue& root, const std::string& path) {
  const JsonValue* links = root.find("links");
  const JsonValue* edges = root.find("edges");
  if (links != nullptr && edges != nullptr)
    refuse_file(at(path, *edges), "both `links` and `edges`: which are the edges?");
  const JsonValue* list = links != nullptr ? links : edges;
  if (list == nullptr || list->kind != JsonValue::Kind::array)
    refuse_file(path + ": ", "expected a list `edges` (or `links`), as in node-link JSON");
  return *list;
}

}  // namespace

ListedGraph parse_node_link(std::string_view text, const std::string& path) {
  const JsonValue root = parse_json(text, path);
  ListedGraph list;
  if (const JsonValue* directed = root.find("directed")) list.directed = directed->boolean;
  const JsonValue* nodes = root.find("nodes");
  if (nodes == nullptr || nodes->kind != JsonValue::Kind::array)
    refuse_file(path + ": ", "expected a list `nodes`, as in node-link JSON");
  for (const JsonValue& node : nodes->items)
    list.peers.push_back(name_of(node.find("id"), node, path));
  list.complete = true;
  for (const JsonValue& edge : edges_of(root, path).items) {
    ListedEdge& e = list.edges.emplace_back();
    e.from = name_of(edge.find("source"), edge, path);
    e.to = name_of(edge.find("target"), edge, path);
    e.where = at(path, edge);
    if (const JsonValue* weight = edge.find("weight"))
      e.weight = parse_weight(weight->text, e.where);
  }
  return list;
}

std::string to_node_link(const Topology& t) {
  std::string text = "{\"directed\": ";
  text += t.directed ? "true" : "false";
  text += ", \"multigraph\": false, \"graph\": {\"name\": " + json_quoted(t.name) + "},\n";
  text += " \"nodes\": [";
  for (PeerId i = 0; i < t.size(); ++i)
    text += (i > 0 ? ", {\"id\": " : "{\"id\": ") + std::to_string(i) + "}";
  text += "],\n \"links\": [";
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    text += e > 0 ? ",\n  " : "\n  ";
    text += "{\"source\": " + std::to_string(edges[e].first) +
            ", \"target\": " + std::to_string(edges[e].second);
    if (!t.edge_weights.empty()) text += ", \"weight\": " + shortest(t.edge_weights[e]);
    text += '}';
  }
  return text + "]}\n";
}

}  // namespace gv

#include "graph/formats/listed_graph.h"

#include <algorithm>
#include <cmath>

#include "graph/formats/file_error.h"
#include "graph/formats/json_value.h"
#include "graph/formats/npy_matrix.h"
#include "graph/spec/parameters.h"

namespace gv {
namespace {

constexpr PeerId most_peers = 10'000'000;

using Numbering = std::map<std::string, PeerId, std::less<>>;

/// Returns the number in "12" or, as igraph writes it, in "n12".
std::optional<PeerId> number_in(std::string_view name, bool prefixed) {
  if (prefixed) {
    if (!name.starts_with('n')) return std::nullopt;
    name.remove_prefix(1);
  }
  return as_number<PeerId>(name);
}

bool number_by_name(Numbering& numbers, bool prefixed) {
  for (auto& [name, id] : numbers) {
    const auto number = number_in(name, prefixed);
    if (!number) return false;
    id = *number;
  }
  return true;
}

void refuse_gaps(const Numbering& numbers, const std::string& path) {
  std::vector<PeerId> ids;
  for (const auto& [name, id] : numbers) ids.push_back(id);
  std::ranges::sort(ids);
  for (std::size_t k = 0; k < ids.size(); ++k) {
    if (ids[k] == k) continue;
    if (k > 0 && ids[k] == ids[k - 1])
      refuse_file(path + ": ", "peer " + std::to_string(ids[k]) + " is written in two ways");
    refuse_file(path + ": ", "peer " + std::to_string(k) + " is missing: the numbers go to " +
                                 std::to_string(ids.back()) + ", but only " +
                                 std::to_string(ids.size()) +
                                 " peers occur; number them 0, 1, 2, ... without gaps");
  }
}

/// Numbers every name: by the number in it, else by first appearance.
Numbering number_peers(const ListedGraph& list, const std::string& path) {
  Numbering numbers;
  std::vector<std::string_view> order;
  const auto meet = [&](const std::string& name) {
    const auto [it, fresh] = numbers.try_emplace(name, 0);
    if (fresh) order.push_back(it->first);
  };
  for (const std::string& name : list.peers) meet(name);
  const std::size_t declared = order.size();
  for (const ListedEdge& e : list.edges) {
    meet(e.from);
    meet(e.to);
    if (list.complete && order.size() > declared)
      refuse_file(e.where, "the peer `" + excerpt(order.back()) + "` is not declared");
  }
  if (number_by_name(numbers, false) || number_by_name(numbers, true)) {
    refuse_gaps(numbers, path);
    return numbers;
  }
  for (std::size_t k = 0; k < order.size(); ++k)
    numbers.find(order[k])->second = static_cast<PeerId>(k);
  return numbers;
}

PeerId fleet_size(const Numbering& numbers, const std::string& path, PeerId n, bool complete) {
  const std::size_t found = numbers.size();
  if (found > most_peers)
    refuse_file(path + ": ",
                std::to_string(found) + " peers are more than " + std::to_string(most_peers));
  if (n == 0) return static_cast<PeerId>(found);
  if (found > n || (complete && found != n)) {
    refuse_file(path + ": ", "the graph has " + std::to_string(found) + " peers, the fleet has " +
                                 std::to_string(n) + ": give as many of the one as of the other");
  }
  return n;
}

std::string shown(const std::optional<double>& weight) {
  return weight ? std::to_string(*weight) : "none";
}

std::string at(const std::string& path, const JsonValue& v) {
  return path + ":" + std::to_string(v.line) + ": ";
}

/// Returns a name: a number, a string, or what networkx makes of a tuple.
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

struct Sum {
  std::size_t index = 0;
  double value = 1;
};

/// The row (or column) whose sum is farthest from 1.
Sum worst_sum(const NpyMatrix& a, bool rows) {
  Sum worst;
  for (std::size_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < a.rows; ++j) sum += rows ? a(i, j) : a(j, i);
    if (std::abs(sum - 1) > std::abs(worst.value - 1)) worst = {i, sum};
  }
  return worst;
}

void check_mixing(const NpyMatrix& a, const std::string& path) {
  const Sum row = worst_sum(a, true);
  const Sum column = worst_sum(a, false);
  const double tolerance = a.single_precision ? 1e-5 : 1e-9;
  if (std::abs(row.value - 1) <= tolerance && std::abs(column.value - 1) <= tolerance) return;
  refuse_file(path + ": ",
              "not doubly stochastic: row " + std::to_string(row.index) + " sums to " +
                  shortest(row.value) + ", column " + std::to_string(column.index) + " to " +
                  shortest(column.value) +
                  " (the worst of each), not 1; an adjacency matrix has nothing on the diagonal");
}

}  // namespace

double parse_weight(std::string_view text, const std::string& where) {
  const auto value = as_number<double>(text);
  if (!value) refuse_file(where, "the weight `" + excerpt(text) + "` is not a number");
  if (!std::isfinite(*value))
    refuse_file(where, "the weight `" + excerpt(text) + "` is not finite");
  return *value;
}

Topology to_topology(const ListedGraph& list, const std::string& path, PeerId n) {
  const Numbering numbers = number_peers(list, path);
  n = fleet_size(numbers, path, n, list.complete);
  if (n == 0) refuse_file(path + ": ", "the graph has no peers");
  std::map<Edge, std::optional<double>> edges;
  std::size_t weighted = 0;
  for (const ListedEdge& e : list.edges) {
    const PeerId u = numbers.find(e.from)->second;
    const PeerId v = numbers.find(e.to)->second;
    if (u == v) {
      refuse_file(e.where, "peer " + excerpt(e.from) +
                               " cannot be its own neighbour: remove the edge; what the "
                               "other edges leave is the weight on itself");
    }
    const Edge key = list.directed ? Edge{u, v} : Edge{std::min(u, v), std::max(u, v)};
    const auto [it, fresh] = edges.try_emplace(key, e.weight);
    if (!fresh && it->second != e.weight) {
      refuse_file(e.where, "the edge " + excerpt(e.from) + " " + excerpt(e.to) +
                               " was given before with another weight (" + shown(it->second) +
                               ", now " + shown(e.weight) + "): keep one of them");
    }
    if (fresh && e.weight) ++weighted;
  }
  if (weighted > 0 && weighted != edges.size()) {
    refuse_file(path + ": ",
                "some edges have a weight and some have none: " + std::to_string(weighted) +
                    " of " + std::to_string(edges.size()) + " have one");
  }
  Topology t{.name = "file:" + path,
             .directed = list.directed,
             .neighbors = std::vector<std::vector<PeerId>>(n),
             .edge_weights = {}};
  for (const auto& [edge, weight] : edges) {
    t.neighbors[edge.second].push_back(edge.first);
    if (!t.directed) t.neighbors[edge.first].push_back(edge.second);
    if (weight) t.edge_weights.push_back(*weight);
  }
  for (auto& neighbors : t.neighbors) std::ranges::sort(neighbors);
  return t;
}

// JSON node-link: { "directed": false, "nodes": [ { "id": 0 }, ... ], "links": [ { "source": 0,
// "target": 1, "weight": 0.5 }, ... ] }, as networkx.node_link_data writes it; newer networkx calls
// the list "edges".

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

// A graph as a matrix A: A_ij != 0 off the diagonal means that i receives from j. With a nonzero
// diagonal A is a mixing matrix and must be doubly stochastic; with a zero diagonal, an adjacency
// matrix: of ones, or of edge weights.

ListedGraph parse_npy(std::string_view bytes, const std::string& path) {
  const NpyMatrix a = parse_npy_matrix(bytes, path);
  const std::size_t n = a.rows;
  if (a.columns != n) {
    refuse_file(path + ": ", "a matrix of " + std::to_string(n) + " x " +
                                 std::to_string(a.columns) +
                                 ": a graph needs as many rows as columns");
  }
  ListedGraph list{.directed = false, .peers = {}, .complete = true, .edges = {}};
  bool mixing = false;
  bool ones = true;
  for (std::size_t i = 0; i < n; ++i) {
    list.peers.push_back(std::to_string(i));
    mixing |= a(i, i) != 0;
    for (std::size_t j = 0; j < n; ++j) {
      list.directed |= a(i, j) != a(j, i);
      ones &= a(i, j) == 0 || a(i, j) == 1;
    }
  }
  if (mixing) check_mixing(a, path);
  const bool weighted = mixing || !ones;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < (list.directed ? n : i); ++j) {
      if (j == i || a(i, j) == 0) continue;
      ListedEdge& e = list.edges.emplace_back();
      e.from = list.peers[j];
      e.to = list.peers[i];
      e.where = path + ": ";
      if (weighted) e.weight = a(i, j);
    }
  }
  return list;
}

std::string to_npy(const Topology& t) {
  const std::size_t n = t.size();
  NpyMatrix a{.rows = n, .columns = n, .single_precision = false, .values = {}};
  a.values.assign(n * n, 0);
  const auto entry = [&](PeerId i, PeerId j) -> double& {
    return a.values[std::size_t{i} * n + j];
  };
  const std::vector<Edge> edges = t.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const double weight = t.edge_weights.empty() ? 1 : t.edge_weights[e];
    const auto [u, v] = edges[e];
    entry(v, u) = weight;
    if (!t.directed) entry(u, v) = weight;
  }
  if (!t.edge_weights.empty()) {
    for (PeerId i = 0; i < n; ++i) {
      double sum = 0;
      for (const PeerId j : t.neighbors[i]) sum += entry(i, j);
      entry(i, i) = 1 - sum;
    }
  }
  return npy_bytes(a);
}

}  // namespace gv

#include "graph/formats/listed_graph.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "graph/formats/file_error.h"

namespace gv {
namespace {

constexpr PeerId most_peers = 10'000'000;

using Numbering = std::map<std::string, PeerId, std::less<>>;

/// "12" or "n12", as igraph writes it.
std::optional<PeerId> number_in(std::string_view name, bool prefixed) {
  if (prefixed) {
    if (!name.starts_with('n')) return std::nullopt;
    name.remove_prefix(1);
  }
  PeerId id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc{} || end != name.data() + name.size() || name.empty()) return std::nullopt;
  return id;
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
    refuse_file(path + ": ",
                "peer " + std::to_string(k) + " is missing: the numbers go to " +
                    std::to_string(ids.back()) + ", but only " + std::to_string(ids.size()) +
                    " peers occur; number them 0, 1, 2, ... without gaps");
  }
}

/// Every name that occurs, numbered by what it says, else by first appearance.
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
    refuse_file(path + ": ",
                "the graph has " + std::to_string(found) + " peers, the fleet has " +
                    std::to_string(n) + ": give as many of the one as of the other");
  }
  return n;
}

std::string shown(const std::optional<double>& weight) {
  return weight ? std::to_string(*weight) : "none";
}

}  // namespace

double parse_weight(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse_file(where, "the weight `" + excerpt(text) + "` is not a number");
  if (!std::isfinite(value)) refuse_file(where, "the weight `" + excerpt(text) + "` is not finite");
  return value;
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
      refuse_file(e.where,
                  "peer " + excerpt(e.from) +
                      " cannot be its own neighbour: remove the edge; what the "
                      "other edges leave is the weight on itself");
    }
    const Edge key = list.directed ? Edge{u, v} : Edge{std::min(u, v), std::max(u, v)};
    const auto [it, fresh] = edges.try_emplace(key, e.weight);
    if (!fresh && it->second != e.weight) {
      refuse_file(e.where,
                  "the edge " + excerpt(e.from) + " " + excerpt(e.to) +
                      " was given before with another weight (" + shown(it->second) + ", now " +
                      shown(e.weight) + "): keep one of them");
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

}  // namespace gv

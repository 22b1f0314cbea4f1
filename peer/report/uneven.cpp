#include "peer/report/uneven.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/report/wrapped.h"

namespace gv {
namespace {

constexpr std::size_t most_named = 5;
constexpr std::size_t indent = 11;

bool same_place(const EdgeEnd& one, const EdgeEnd& other) {
  return one.exchange == other.exchange && one.pieces == other.pieces;
}

const EdgeEnd* end_with(const Report& report, PeerId with) {
  const auto at = std::ranges::find(report.edges, with, &EdgeEnd::with);
  return at == report.edges.end() ? nullptr : &*at;
}

}  // namespace

std::vector<UnevenEdge> uneven_edges(const std::map<PeerId, const Report*>& last) {
  std::vector<UnevenEdge> uneven;
  for (const auto& [a, report] : last) {
    for (const EdgeEnd& at_a : report->edges) {
      const auto other = last.find(at_a.with);
      if (at_a.with <= a || other == last.end()) continue;
      const EdgeEnd* const at_b = end_with(*other->second, a);
      if (at_b != nullptr && !same_place(at_a, *at_b))
        uneven.push_back({a, at_a.with, at_a, *at_b});
    }
  }
  return uneven;
}

std::string uneven_text(const std::vector<UnevenEdge>& edges) {
  if (edges.empty()) return "";
  std::vector<std::string> named;
  for (const UnevenEdge& edge : edges) {
    if (named.size() == most_named) break;
    named.push_back(fmt::format("{} of peers {} and {}",
                                std::min(edge.at_a.exchange, edge.at_b.exchange).value,
                                edge.a,
                                edge.b));
  }
  const std::size_t others = edges.size() - named.size();
  return wrapped(
      fmt::format(
          "uneven     counted at one end only, because the other end gave it up: exchange {}"
          "{}. The mean of the models is not what their steps made it",
          fmt::join(named, ", "),
          others > 0 ? fmt::format(", and {} more", others) : ""),
      indent);
}

Json uneven_json(const std::vector<UnevenEdge>& edges) {
  Json rows = Json::array();
  for (const UnevenEdge& e : edges)
    rows.push_back(Json{
        {"peers", std::vector<PeerId>{e.a, e.b}},
        {"exchanges", std::vector<std::uint64_t>{e.at_a.exchange.value, e.at_b.exchange.value}},
        {"pieces", std::vector<std::uint32_t>{e.at_a.pieces, e.at_b.pieces}}});
  return rows;
}

}  // namespace gv

#include "peer/record/uneven_edges.h"

#include <algorithm>

namespace gv {
namespace {

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

std::vector<QuietEdge> quiet_edges(const std::map<PeerId, const Report*>& last) {
  std::map<std::pair<PeerId, PeerId>, QuietEdge> quiet;
  for (const auto& [peer, report] : last)
    for (const SilentEdge& edge : report->silent) {
      if (!last.contains(edge.with)) continue;
      const auto [a, b] = std::minmax(peer, edge.with);
      QuietEdge& one = quiet[{a, b}];
      if (edge.rounds > one.rounds) one = {a, b, edge.since, edge.rounds};
    }
  std::vector<QuietEdge> ascending;
  for (const auto& [ends, edge] : quiet) ascending.push_back(edge);
  return ascending;
}

}  // namespace gv

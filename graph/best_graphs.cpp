#include "graph/best_graphs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "graph/schedules.h"
#include "graph/topologies.h"

namespace gv {
namespace {

/// The specifications of which only the best is kept.
using Group = std::vector<std::string>;

template <class Family>
void add_groups(const Family& family, const SearchScope& scope, std::vector<Group>& groups) {
  if (family.searched == nullptr) return;
  for (const Group& parameters : family.searched(scope)) {
    Group& group = groups.emplace_back();
    for (const std::string& text : parameters)
      group.push_back(std::string(family.name) + (text.empty() ? "" : ":" + text));
  }
}

std::vector<Group> groups_of(const GraphSearch& s) {
  const SearchScope scope{s.peers, s.max_degree, s.seeds};
  std::vector<Group> groups;
  for (const TopologyFamily* family : topology_families()) add_groups(*family, scope, groups);
  if (!s.schedules) return groups;
  for (const ScheduleFamily* family : schedule_families()) add_groups(*family, scope, groups);
  return groups;
}

void count_neighbors(const MixingSchedule& schedule, GraphCandidate& c) {
  const std::uint64_t rounds = schedule.period() > 0 ? schedule.period() : 20;
  double sum = 0;
  for (std::uint64_t k = 0; k < rounds; ++k) {
    const MixingMatrix w = schedule.matrix(k);
    for (PeerId i = 0; i < w.size(); ++i) {
      const std::size_t heard = w.row(i).peers.size();
      c.most_neighbors = std::max(c.most_neighbors, static_cast<PeerId>(heard));
      sum += static_cast<double>(heard);
    }
  }
  c.mean_neighbors = sum / static_cast<double>(rounds) / schedule.size();
}

/// Empty when the graph is impossible, too dense, or does not average.
std::optional<GraphCandidate> look_at(const std::string& text, const GraphSearch& s) {
  GraphCandidate c;
  c.spec = parse_schedule(text);
  c.spec.weights = s.weights;
  c.name = text;
  try {
    const auto schedule = make_schedule(c.spec, s.peers);
    count_neighbors(*schedule, c);
    if (c.most_neighbors > s.max_degree) return std::nullopt;
    c.rate = schedule_rate(*schedule);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  if (c.rate.per_round >= 1 - 1e-12) return std::nullopt;
  c.score = s.score(c);
  return c;
}

bool better(const GraphCandidate& a, const GraphCandidate& b) {
  return std::tie(a.score, a.mean_neighbors, a.rate.per_round) <
         std::tie(b.score, b.mean_neighbors, b.rate.per_round);
}

}  // namespace

double rounds_to_thousandth(const GraphCandidate& c) {
  return c.rate.rounds_to(1e-3);
}

std::vector<GraphCandidate> best_graphs(const GraphSearch& search) {
  if (search.peers < 2) throw std::invalid_argument("graph best: needs at least two peers");
  if (search.max_degree < 1)
    throw std::invalid_argument("graph best: the degree must be 1 or more");
  std::vector<GraphCandidate> found;
  for (const Group& group : groups_of(search)) {
    std::optional<GraphCandidate> best;
    for (const std::string& text : group) {
      const auto c = look_at(text, search);
      if (c && (!best || better(*c, *best))) best = c;
    }
    if (best) found.push_back(*best);
  }
  std::ranges::stable_sort(found, better);
  return found;
}

}  // namespace gv

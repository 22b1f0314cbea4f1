#include "graph/schedule/search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace gv {
namespace {

/// The specifications of one family: all shapes, or all seeds of which the best stays.
using Group = std::vector<std::string>;

Group seeded(const std::string& text, int seeds) {
  Group group;
  for (int seed = 1; seed <= seeds; ++seed) group.push_back(text + "seed=" + std::to_string(seed));
  return group;
}

std::vector<Group> static_groups(const GraphSearch& s) {
  std::vector<Group> groups{{"ring"},
                            {"complete"},
                            {"hypercube"},
                            {"exponential"},
                            {"symmetric-exponential"},
                            {"binary-tree"}};
  for (PeerId rows = 3; rows * rows <= s.peers; ++rows) {
    if (s.peers % rows != 0) continue;
    const std::string shape = std::to_string(rows) + "x" + std::to_string(s.peers / rows);
    groups.push_back({"torus:" + shape});
    groups.push_back({"king-torus:" + shape});
  }
  for (PeerId k = 4; k <= std::min<PeerId>(s.max_degree, 32); k += 2)
    groups.push_back({"ring-lattice:k=" + std::to_string(k)});
  for (PeerId d = std::max<PeerId>(3, s.max_degree - 1); d <= s.max_degree; ++d)
    groups.push_back(seeded("random-regular:degree=" + std::to_string(d) + ",", s.seeds));
  groups.push_back(seeded("d-equi-static:m=" + std::to_string(s.max_degree) + ",", s.seeds));
  if (s.max_degree >= 2)
    groups.push_back(seeded("u-equi-static:m=" + std::to_string(s.max_degree / 2) + ",", s.seeds));
  return groups;
}

std::vector<Group> schedule_groups(const GraphSearch& s) {
  std::vector<Group> groups{{"one-peer-exponential"},
                            {"random-matching"},
                            {"od-equi-dyn:eta=0.5"},
                            {"ou-equi-dyn:eta=0.5"}};
  for (PeerId k = 1; k <= std::min<PeerId>(s.max_degree, 8); ++k)
    groups.push_back({"base:k=" + std::to_string(k)});
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
  std::vector<Group> groups = static_groups(search);
  if (search.schedules) std::ranges::move(schedule_groups(search), std::back_inserter(groups));
  std::vector<GraphCandidate> found;
  for (const Group& group : groups) {
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

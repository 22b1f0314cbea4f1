#include "peer/study/predict/forecast/candidate.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/best_graphs.h"
#include "graph/formats/graph_file.h"
#include "graph/predict/mixing.h"
#include "graph/schedule/schedule.h"
#include "graph/schedule/schedule_rate.h"
#include "graph/schedules.h"
#include "graph/spectrum/spectrum.h"
#include "graph/topologies.h"
#include "graph/weights.h"

namespace gv {
namespace {

constexpr PeerId search_limit = 4096;  ///< peers for whom others are looked for
constexpr PeerId sample_limit = 128;   ///< peers for whose schedules rounds are drawn
constexpr std::size_t n_graphs = 10;
constexpr double own_work = 3e9, other_work = 3e8;  ///< multiplications

std::size_t most_heard(const MixingSchedule& schedule) {
  const bool random = schedule.period() == 0;
  const std::uint64_t rounds = random ? (schedule.size() > 512 ? 4 : 64) : schedule.period();
  std::size_t most = 0;
  for (std::uint64_t k = 0; k < rounds; ++k) {
    for (PeerId i = 0; i < schedule.size(); ++i)
      most = std::max(most, schedule.row(k, i).peers.size());
  }
  return most;
}

Candidate of_graph(const Topology& topology, const MixingMatrix& w, const std::string& weights) {
  const TopologySpec spec = spec_of_name(topology).value_or(file_topology(""));
  const Spectrum s = spectrum(w, &spec, weights);
  const auto rounds = std::make_shared<PeriodicSchedule>(std::vector<MixingMatrix>{w});
  return {.name = topology.name,
          .rounds = rounds,
          .law = MixingLaw(w, spec, weights),
          .degree = most_heard(*rounds),
          .slem = s.slem,
          .gap = s.gap,
          .rounds_to_thousandth = std::ceil(rounds_to(s.slem < 1e-12 ? 1 : s.gap, 1e-3))};
}

Candidate of_schedule(const ScheduleSpec& spec,
                      std::shared_ptr<const MixingSchedule> rounds,
                      double most_work) {
  const double n = rounds->size();
  const auto samples = static_cast<int>(std::clamp(1e7 / (n * n), 20.0, 4000.0));
  const ScheduleRate rate = schedule_rate(*rounds, samples);
  return {.name = to_string(spec),
          .rounds = rounds,
          .law = MixingLaw(spec, rounds, most_work),
          .degree = most_heard(*rounds),
          .slem = rate.per_round,
          .gap = 1 - rate.per_round,
          .rounds_to_thousandth = rate.rounds_to(1e-3)};
}

void add_graphs(const Assembly& fleet, std::size_t max_degree, std::vector<Candidate>& found) {
  GraphSearch search;
  search.peers = fleet.fleet.trainers();
  search.max_degree = static_cast<PeerId>(max_degree);
  search.weights = weights_for_all(fleet.fleet.weights);
  for (const GraphCandidate& c : best_graphs(search)) {
    if (found.size() == n_graphs) break;
    const Topology t = build(c.spec.topology, search.peers);
    if (t.name == fleet.topology.name) continue;
    found.push_back(of_graph(t, mixing_matrix(search.weights, t), search.weights));
  }
}

/// The fleet's own schedule, whatever its seed.
bool is_same_choice(const ScheduleSpec& own, const ScheduleSpec& other) {
  if (own.family != other.family) return false;
  return !own.parameters.has("k") || own.parameters.count("k") == other.parameters.count("k");
}

void add_schedules(const Assembly& fleet, std::size_t max_degree, std::vector<Candidate>& found) {
  const PeerId n = fleet.fleet.trainers();
  std::vector<std::string> names{"one-peer-exponential", "random-matching", "od-equi-dyn"};
  if (n <= sample_limit) names.emplace_back("ou-equi-dyn");
  for (std::size_t k = 1; k <= std::min<std::size_t>(max_degree, 4) && n <= sample_limit; ++k)
    names.push_back(fmt::format("base:k={}", k));
  for (const std::string& name : names) {
    const ScheduleSpec spec = parse_schedule(name);
    if (fleet.fleet.schedule && is_same_choice(*fleet.fleet.schedule, spec)) continue;
    try {
      Candidate c = of_schedule(spec, make_schedule(spec, n), other_work);
      // Base graphs of many k are the sequence of a smaller k.
      const bool other_k = spec.parameters.has("k") && c.degree < spec.parameters.count("k");
      if (c.degree <= max_degree && c.slem < 1 && !other_k) found.push_back(std::move(c));
    } catch (const std::invalid_argument&) {
      continue;  // impossible on so many peers
    }
  }
}

}  // namespace

std::string weights_for_all(const std::string& weights) {
  const WeightRule* rule = find_weight_rule(weights);
  return rule != nullptr && rule->compares_graphs ? weights : "metropolis";
}

Candidate own_candidate(const Assembly& fleet) {
  if (fleet.schedule) return of_schedule(*fleet.fleet.schedule, fleet.schedule, own_work);
  return of_graph(fleet.topology, *fleet.w, fleet.fleet.weights);
}

std::vector<Candidate> other_candidates(const Assembly& fleet, std::size_t max_degree) {
  const PeerId n = fleet.fleet.trainers();
  std::vector<Candidate> found;
  if (n < 2 || n > search_limit || max_degree < 1) return found;
  add_graphs(fleet, max_degree, found);
  add_schedules(fleet, max_degree, found);
  return found;
}

}  // namespace gv

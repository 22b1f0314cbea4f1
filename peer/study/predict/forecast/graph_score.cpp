#include "peer/study/predict/forecast/graph_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "graph/predict/transient.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "graph/weights.h"
#include "peer/study/predict/forecast/mixing_law.h"

namespace gv {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t most_rounds = 1'000'000;

/// None where the method does not run, or for a directed W that is not normal.
std::optional<Modes> modes_of_candidate(const GraphCandidate& c,
                                        PeerId peers,
                                        const QuadraticFleet& fleet) {
  const Topology t = build(c.spec.topology, peers);
  const TopologySpec spec = parse_topology(t.name);
  const MixingMatrix w = mixing_matrix(c.spec.weights, t);
  if (!refusal_of_order(fleet.order, w).empty()) return std::nullopt;
  try {
    const Modes modes = modes_of(w, &spec, c.spec.weights);
    return why_no_theory(modes, fleet).empty() ? std::optional(modes) : std::nullopt;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

double settled(const std::optional<Stationary>& s) {
  return s ? s->excess_local.value : infinite;
}

double rounds_to_target(const Modes& modes, const GraphGoal& goal) {
  if (!has_transient(*goal.fleet)) return infinite;
  const auto rounds = first_at_most(
      [&](std::uint64_t t) {
        return predict_after(modes, *goal.fleet, goal.start, t).excess_local.value;
      },
      *goal.target,
      most_rounds);
  return rounds ? static_cast<double>(*rounds) : infinite;
}

double schedule_score(const GraphCandidate& c, PeerId peers, const GraphGoal& goal) {
  constexpr double most_work = 3e8;
  const MixingLaw law(c.spec, make_schedule(c.spec, peers), most_work);
  const QuadraticProblem problem{{{*goal.fleet, 1}}, goal.start};
  const std::optional<Stationary> end = law.settled(problem);
  if (!end || !goal.target) return settled(end);
  return law.rounds_to(problem, *goal.target).value_or(infinite);
}

std::string score_text(double score, const GraphGoal& goal) {
  if (!std::isfinite(score)) return "never";
  return goal.measure() == "excess_loss_local" ? fmt::format("{:.4g}", score)
                                               : fmt::format("{:.0f}", std::ceil(score));
}

std::string meaning(const GraphCandidate& c, const GraphGoal& goal) {
  const std::string score = score_text(c.score, goal);
  if (goal.measure() == "rounds_to_target") {
    return fmt::format(
        "local models are at an excess loss of {:g} after {} rounds", *goal.target, score);
  }
  if (goal.measure() == "excess_loss_local")
    return fmt::format("local models settle at an excess loss of {}", score);
  return fmt::format("a disagreement is a thousandth after {} rounds", score);
}

}  // namespace

std::string GraphGoal::measure() const {
  if (!fleet) return "rounds_to_thousandth";
  return target ? "rounds_to_target" : "excess_loss_local";
}

std::string refusal_of_order(const std::string& order, const MixingMatrix& w) {
  const AlgorithmRow* row = find_algorithm("d-psgd", order);
  if (row == nullptr) row = find_algorithm(order, "");
  if (row == nullptr) return "";
  if (row->kind != "d-psgd" && w.directed())
    return fmt::format(
        "{} moves what both ends of an edge have sent each other, and this topology "
        "is directed",
        row->kind);
  return objection_to(*row, Setup{.peers = w.size()}, &w);
}

double score_of(const GraphCandidate& c, PeerId peers, const GraphGoal& goal) {
  if (!goal.fleet) return rounds_to_thousandth(c);
  if (!c.spec.is_static()) return schedule_score(c, peers, goal);
  const std::optional<Modes> modes = modes_of_candidate(c, peers, *goal.fleet);
  if (!modes) return infinite;
  const std::optional<Stationary> end = predict(*modes, *goal.fleet);
  if (!end) return infinite;
  return goal.target ? rounds_to_target(*modes, goal) : settled(end);
}

std::string reason_of(const std::vector<GraphCandidate>& found, const GraphGoal& goal) {
  const GraphCandidate& best = found.front();
  if (!std::isfinite(best.score))
    return goal.target ? "none: the fleet diverges or never gets there on any of these"
                       : "none: the fleet diverges on every one of these";
  std::string text = fmt::format("{}: {}", best.name, meaning(best, goal));
  if (found.size() > 1) {
    text += best.score == found[1].score
                ? fmt::format("; {} is as good, with {} models per round against {}",
                              found[1].name,
                              found[1].mean_neighbors,
                              best.mean_neighbors)
                : fmt::format("; next {}: {}", found[1].name, score_text(found[1].score, goal));
  }
  const auto fastest =
      std::ranges::min_element(found, {}, [](const GraphCandidate& c) { return c.rate.per_round; });
  if (goal.fleet && fastest->name != best.name)
    text += fmt::format("; the largest gap here is that of {}", fastest->name);
  return text;
}

}  // namespace gv

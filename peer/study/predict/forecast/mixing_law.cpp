#include "peer/study/predict/forecast/mixing_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "gossip/algorithm.h"
#include "graph/predict/rates/mixing_rates.h"
#include "graph/predict/rates/stable_rates.h"
#include "graph/predict/sequence.h"
#include "graph/predict/transient.h"
#include "graph/schedules.h"
#include "graph/topologies.h"
#include "graph/weights.h"

namespace gv {
namespace {

bool plain(const OptimizerSpec& o) {
  return o.kind == "sgd" && o.momentum == 0 && o.weight_decay == 0 && o.clip_norm == 0 &&
         o.lr > 0 && o.schedule.kind == "constant" && o.schedule.warmup == 0;
}

/// Returns the rounds for which all peers have fresh samples.
double fresh_rounds(const Assembly& fleet) {
  double fewest = 1e300;
  for (PeerId i = 0; i < fleet.fleet.trainers(); ++i) {
    fewest = std::min(fewest,
                      static_cast<double>(fleet.partition[i].size()) / fleet.fleet.peers[i].batch);
  }
  return fewest;
}

std::vector<double> weights_of(const Neighborhood& row) {
  std::vector<double> weights = row.weights;
  std::ranges::sort(weights);
  return weights;
}

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr PeerId dense_limit = 512;     ///< most peers for which all eigenvalues are computed
constexpr PeerId modes_limit = 20'000;  ///< most peers for which modes are estimated
constexpr PeerId sequence_limit = 256;  ///< most peers whose sequence is followed
constexpr std::uint64_t most_rounds = 1'000'000;

std::optional<Modes> cheap_modes(const MixingMatrix& w,
                                 const TopologySpec& spec,
                                 std::string_view weights) {
  if (w.size() > modes_limit) return std::nullopt;
  if (auto modes = closed_form_modes(spec, w.size(), weights)) return modes;
  try {
    if (w.size() <= dense_limit) return modes_of(w);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  if (w.directed()) return std::nullopt;
  return stochastic_modes(w, 4, 200);
}

/// Returns the multiplications in a round of a walk.
double work_of_round(PeerId n, const QuadraticProblem& problem) {
  const auto axes = static_cast<double>(problem.parts.front().fleet.hessian.size());
  return axes * 20.0 * n * n;
}

/// Returns nothing if the method cannot run on this graph, or for a directed W that is not normal.
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
      *goal.target, most_rounds);
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
    return fmt::format("local models are at an excess loss of {:g} after {} rounds", *goal.target,
                       score);
  }
  if (goal.measure() == "excess_loss_local")
    return fmt::format("local models settle at an excess loss of {}", score);
  return fmt::format("a disagreement is a thousandth after {} rounds", score);
}

}  // namespace

std::optional<RegressionProblem> regression_problem(const Assembly& fleet) {
  const Fleet& f = fleet.fleet;
  const bool linear = f.data.kind == "linear" && f.model.kind == "linear";
  const std::uint32_t batch = f.peers.front().batch;
  const bool even = std::ranges::all_of(f.peers, [&](const auto& p) { return p.batch == batch; });
  if (!linear || !even || !plain(f.optimizer) || !fleet.is_plain_d_psgd() || f.local_steps != 1 ||
      f.data.partition.kind != "iid")
    return std::nullopt;
  if (static_cast<double>(fleet.rounds) > fresh_rounds(fleet)) return std::nullopt;
  RegressionProblem problem;
  problem.fleet = {.covariance = std::vector<double>(f.data.features + 1, 1.0),
                   .noise = f.data.noise * f.data.noise,
                   .batch = static_cast<double>(batch),
                   .rate = f.optimizer.lr,
                   .order = std::string(fleet.algorithm->order)};
  problem.optimum.assign(fleet.data.train->optimum.begin(), fleet.data.train->optimum.end());
  problem.optimum.push_back(0);
  return problem;
}

bool peers_alike(const MixingSchedule& schedule) {
  for (std::uint64_t k = 0; k < schedule.period(); ++k) {
    const std::vector<double> first = weights_of(schedule.row(k, 0));
    for (PeerId i = 1; i < schedule.size(); ++i) {
      const auto near = [](double a, double b) { return std::abs(a - b) < 1e-12; };
      if (!std::ranges::equal(weights_of(schedule.row(k, i)), first, near)) return false;
    }
  }
  return true;
}

MixingLaw::MixingLaw(const MixingMatrix& w, const TopologySpec& spec, std::string_view weights)
    : modes_(cheap_modes(w, spec, weights)) {}

MixingLaw::MixingLaw(const ScheduleSpec& spec,
                     std::shared_ptr<const MixingSchedule> sequence,
                     double most_work)
    : modes_(sequence->size() <= modes_limit ? schedule_modes(spec, sequence->size())
                                             : std::nullopt),
      sequence_(sequence->size() <= sequence_limit ? std::move(sequence) : nullptr),
      most_work_(most_work) {}

bool MixingLaw::by_modes(const QuadraticFleet& fleet) const {
  return modes_ && why_no_theory(*modes_, fleet).empty();
}

bool MixingLaw::by_steps(const QuadraticFleet& fleet) const {
  return sequence_ != nullptr && can_walk(fleet);
}

std::optional<double> MixingLaw::left_after(std::uint64_t rounds) const {
  double start = 0;
  double end = 0;
  if (modes_) {
    start = disagreement_after(*modes_, 0).value;
    end = disagreement_after(*modes_, rounds).value;
  } else if (sequence_ != nullptr) {
    start = sequence_disagreement(*sequence_, 0);
    end = sequence_disagreement(*sequence_, rounds);
  }
  if (!(start > 0)) return std::nullopt;
  return std::sqrt(end / start);
}

/// By the identity that effective neighbours are the factor by which local models settle better
/// than a worker alone, in order atc with (1 - gamma h)^2 = g.
std::optional<Estimate> MixingLaw::n_eff(double discount) const {
  if (modes_) return effective_neighbors(*modes_, discount);
  const QuadraticFleet fleet{.hessian = {1}, .rate = 1 - std::sqrt(discount), .order = "atc"};
  if (!by_steps(fleet)) return std::nullopt;
  const auto settled = settled_sequence(*sequence_, fleet, most_work_);
  if (!settled) return std::nullopt;
  const double alone = fleet.rate * fleet.rate / (1 - discount) / 2;
  const double value = alone / settled->excess_local.value;
  return Estimate{value, value * settled->excess_local.error / settled->excess_local.value};
}

std::optional<Stationary> MixingLaw::settled(const QuadraticProblem& problem) const {
  const QuadraticFleet& fleet = problem.parts.front().fleet;
  if (by_modes(fleet)) return problem.settled(*modes_);
  if (!by_steps(fleet)) return std::nullopt;
  return settled_sequence(*sequence_, problem.spelled_out(), most_work_);
}

std::optional<Stationary> MixingLaw::settled(const RegressionFleet& fleet) const {
  if (!modes_) return std::nullopt;
  return predict_regression(*modes_, fleet);
}

std::optional<Stationary> MixingLaw::after(const RegressionProblem& problem,
                                           std::uint64_t rounds) const {
  if (!modes_ || !modes_->coarse.empty()) return std::nullopt;
  return predict_regression_after(*modes_, problem.fleet, problem.optimum, rounds);
}

std::optional<Stationary> MixingLaw::start(const QuadraticProblem& problem) const {
  const QuadraticFleet& fleet = problem.parts.front().fleet;
  if (by_modes(fleet)) return problem.after(*modes_, 0);
  if (!by_steps(fleet)) return std::nullopt;
  return SequenceWalk(*sequence_, problem.spelled_out(), problem.start).now();
}

std::optional<StableRates> MixingLaw::stable_rates(const QuadraticProblem& problem) const {
  const QuadraticFleet& fleet = problem.parts.front().fleet;
  if (by_modes(fleet)) return problem.stable_rates(*modes_);
  if (!by_steps(fleet)) return std::nullopt;
  return schedule_stable_rates(*sequence_, fleet);
}

std::optional<double> MixingLaw::rounds_to(const QuadraticProblem& problem, double target) const {
  const QuadraticFleet& fleet = problem.parts.front().fleet;
  if (!by_modes(fleet)) return by_steps(fleet) ? walk_to(problem, target) : std::nullopt;
  if (!problem.after(*modes_, 0)) return std::nullopt;
  const auto rounds = problem.rounds_to(*modes_, target, most_rounds);
  return rounds ? static_cast<double>(*rounds) : infinite;
}

std::optional<double> MixingLaw::walk_to(const QuadraticProblem& problem, double target) const {
  const std::optional<Stationary> end = settled(problem);
  if (!end) return std::nullopt;
  const bool arrives = end->excess_local.value <= target;
  // If the loss settles above the target, it may still dip below it, but only early.
  const double most = arrives ? most_work_ / work_of_round(sequence_->size(), problem) : 100;
  SequenceWalk walk(*sequence_, problem.spelled_out(), problem.start);
  for (double t = 0; t <= most; ++t) {
    if (walk.now().excess_local.value <= target) return t;
    walk.round(sequence_->matrix(static_cast<std::uint64_t>(t)));
  }
  if (arrives) return std::nullopt;
  return infinite;
}

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
        "{} needs edges that carry messages both ways, and this topology is directed", row->kind);
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
    return goal.target ? "none: on each of these the fleet diverges or never gets there"
                       : "none: on each of these the fleet diverges";
  std::string text = fmt::format("{}: {}", best.name, meaning(best, goal));
  if (found.size() > 1) {
    text += best.score == found[1].score
                ? fmt::format("; {} is as good, with {} models per round against {}", found[1].name,
                              found[1].mean_neighbors, best.mean_neighbors)
                : fmt::format("; next {}: {}", found[1].name, score_text(found[1].score, goal));
  }
  const auto fastest =
      std::ranges::min_element(found, {}, [](const GraphCandidate& c) { return c.rate.per_round; });
  if (goal.fleet && fastest->name != best.name)
    text += fmt::format("; the largest gap here is that of {}", fastest->name);
  return text;
}

}  // namespace gv

#include "peer/study/predict/forecast/expectation.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/predict/sequence.h"
#include "graph/predict/transient.h"
#include "peer/study/predict/forecast/forecast.h"

namespace gv {
namespace {

constexpr PeerId most_peers = 1024;
constexpr double most_operations = 2e8;  ///< limit for following the fleet's minima or schedule

double operations(const Assembly& fleet, Round rounds) {
  double links = 0;
  for (PeerId i = 0; i < fleet.fleet.trainers(); ++i) {
    const Neighborhood row = fleet.schedule ? fleet.schedule->row(0, i) : fleet.w->row(i);
    links += 1 + static_cast<double>(row.peers.size());
  }
  return links * static_cast<double>(rounds) * static_cast<double>(fleet.dimension);
}

/// Predicts by following the schedule's rounds one after the other; ignores the fleet's own minima
/// if `centers` is empty.
std::optional<Stationary> along_schedule(const Assembly& fleet,
                                         const QuadraticProblem& problem,
                                         const std::vector<std::vector<double>>& centers,
                                         Round rounds) {
  const QuadraticFleet all = problem.spelled_out();
  const double n = fleet.fleet.trainers();
  const double curvatures = static_cast<double>(problem.parts.front().fleet.hessian.size());
  const double covariances = 20 * n * n * curvatures * static_cast<double>(rounds);
  if (!can_walk(all) || covariances > most_operations) return std::nullopt;
  SequenceWalk walk = centers.empty() ? SequenceWalk(*fleet.schedule, all, problem.start)
                                      : SequenceWalk(*fleet.schedule, all, centers, problem.start);
  for (Round t = 0; t < rounds; ++t) walk.round(fleet.schedule->matrix(t));
  return walk.now();
}

/// Predicts losses on the test set, which include the irreducible loss.
std::optional<Stationary> of_regression(const Assembly& fleet,
                                        const RegressionProblem& problem,
                                        Round rounds) {
  const Candidate own = own_candidate(fleet);
  const double n = fleet.fleet.trainers();
  if (!peers_alike(*own.rounds) || n * static_cast<double>(rounds) > most_operations)
    return std::nullopt;
  std::optional<Stationary> s = own.law.after(problem, rounds);
  if (!s) return std::nullopt;
  s->excess_mean.value += problem.least_loss();
  s->excess_local.value += problem.least_loss();
  return s;
}

/// Predicts the stationary state; with the fleet's own minima if convergence is fast enough.
std::optional<Stationary> settled_state(const Assembly& fleet,
                                        const QuadraticProblem& problem,
                                        const Modes& modes,
                                        const std::vector<std::vector<double>>& centers) {
  constexpr double time_constants = 40;
  const QuadraticFleet all = problem.spelled_out();
  const double slowest = all.rate * std::ranges::min(all.hessian);
  const bool soon =
      slowest > 0 && operations(fleet, 1) * time_constants <= most_operations * slowest;
  if (centers.empty() || !soon) return problem.settled(modes);
  return predict_centers(*fleet.w, modes, all, centers);
}

std::string line(const char* what, double measured, const Estimate& expected) {
  return fmt::format("\npredicted  {} {:.4g} on average, {:.4g} at the end", what, expected.value,
                     measured);
}

void add(Estimate& sum, const Estimate& term, double copies) {
  sum.value += copies * term.value;
  sum.error += copies * term.error;
}

void add(Stationary& sum, const Stationary& term, double copies) {
  add(sum.consensus, term.consensus, copies);
  add(sum.excess_mean, term.excess_mean, copies);
  add(sum.excess_local, term.excess_local, copies);
}

/// The Hessian is repeated cyclically: whole repetitions, then a remainder.
std::vector<QuadraticProblem::Part> parts_of(const QuadraticSpec& spec,
                                             const QuadraticFleet& fleet) {
  const std::size_t length = spec.hessian.size();
  const std::size_t whole = spec.dimension / length;
  const auto rest = static_cast<std::ptrdiff_t>(spec.dimension % length);
  std::vector<QuadraticProblem::Part> parts;
  if (whole > 0) parts.push_back({fleet, static_cast<double>(whole)});
  if (rest > 0) {
    parts.push_back({fleet, 1});
    parts.back().fleet.hessian.assign(spec.hessian.begin(), spec.hessian.begin() + rest);
  }
  return parts;
}

}  // namespace

std::optional<Stationary> expectation(const Assembly& fleet, const FleetRecord& record) {
  if (record.peers != fleet.fleet.trainers() || record.peers > most_peers) return std::nullopt;
  if (const auto regression = regression_problem(fleet))
    return of_regression(fleet, *regression, record.round);
  const std::optional<QuadraticProblem> problem = quadratic_problem(fleet);
  if (!problem) return std::nullopt;
  const QuadraticSpec& spec = fleet.fleet.data.quadratic;
  std::vector<std::vector<double>> centers;  // empty if they are too many to follow
  if (operations(fleet, record.round) <= most_operations)
    centers = quadratic_centers(spec, record.peers, Rng(fleet.fleet.seed).derive("quadratic"));
  if (fleet.schedule) return along_schedule(fleet, *problem, centers, record.round);
  try {
    const Modes modes = modes_of(*fleet.w);
    if (!has_transient(problem->parts.front().fleet))
      return settled_state(fleet, *problem, modes, centers);
    if (centers.empty()) return problem->after(modes, record.round);
    return predict_after(*fleet.w, modes, problem->spelled_out(), centers, spec.start,
                         record.round);
  } catch (const std::invalid_argument&) {  // a directed W without orthogonal modes
    return std::nullopt;
  }
}

std::string expectation_text(const std::optional<Stationary>& expected, const FleetRecord& r) {
  if (!expected) return "";
  return line("consensus", r.consensus, expected->consensus) +
         line("loss of the mean model", r.mean.loss, expected->excess_mean) +
         line("mean loss of local models", r.loss_local, expected->excess_local);
}

void add_expectation(Json& summary, const std::optional<Stationary>& expected) {
  if (!expected) return;
  summary["predicted"] = {{"consensus", expected->consensus.value},
                          {"excess_loss_mean", expected->excess_mean.value},
                          {"excess_loss_local", expected->excess_local.value}};
}

std::optional<Stationary> QuadraticProblem::settled(const Modes& modes) const {
  Stationary sum;
  for (const Part& part : parts) {
    const std::optional<Stationary> s = predict(modes, part.fleet);
    if (!s) return std::nullopt;
    add(sum, *s, part.copies);
  }
  return sum;
}

std::optional<Stationary> QuadraticProblem::after(const Modes& modes, std::uint64_t rounds) const {
  Stationary sum;
  for (const Part& part : parts) {
    if (!has_transient(part.fleet)) return std::nullopt;
    add(sum, predict_after(modes, part.fleet, start, rounds), part.copies);
  }
  return sum;
}

std::optional<std::uint64_t> QuadraticProblem::rounds_to(const Modes& modes,
                                                         double target,
                                                         std::uint64_t most) const {
  if (!after(modes, 0)) return std::nullopt;
  return first_at_most([&](std::uint64_t t) { return after(modes, t)->excess_local.value; }, target,
                       most);
}

StableRates QuadraticProblem::stable_rates(const Modes& modes) const {
  return gv::stable_rates(modes, parts.front().fleet);
}

QuadraticFleet QuadraticProblem::spelled_out() const {
  QuadraticFleet all = parts.front().fleet;
  all.hessian.clear();
  for (const Part& part : parts) {
    const std::vector<double>& h = part.fleet.hessian;
    for (double k = 0; k < part.copies; ++k)
      all.hessian.insert(all.hessian.end(), h.begin(), h.end());
  }
  return all;
}

double QuadraticProblem::curvature() const {
  return *std::ranges::max_element(parts.front().fleet.hessian);
}

std::optional<QuadraticProblem> quadratic_problem(const Assembly& fleet) {
  const OptimizerSpec& o = fleet.fleet.optimizer;
  const bool plain = o.kind == "sgd" && !o.nesterov && o.weight_decay == 0 && o.clip_norm == 0 &&
                     o.lr > 0 && o.schedule.kind == "constant" && o.schedule.warmup == 0;
  const bool quadratic = fleet.fleet.data.kind == "quadratic";
  const bool alike = fleet.fleet.own_steps.empty();  // the theory needs equal steps
  if (!quadratic || !plain || !alike || !fleet.is_plain_d_psgd()) return std::nullopt;
  const QuadraticSpec& q = fleet.fleet.data.quadratic;
  if (!q.centers.empty()) return std::nullopt;
  QuadraticFleet f{.hessian = q.hessian,
                   .noise = q.noise * q.noise,
                   .spread = q.spread * q.spread,
                   .rate = o.lr,
                   .momentum = o.momentum,
                   .local_steps = fleet.fleet.local_steps,
                   .order = std::string(fleet.algorithm->order)};
  return QuadraticProblem{parts_of(q, f), q.start};
}

}  // namespace gv

#include "peer/study/predict/forecast/quadratic_problem.h"

#include <algorithm>

#include "graph/predict/transient.h"

namespace gv {
namespace {

void add(Estimate& sum, const Estimate& term, double copies) {
  sum.value += copies * term.value;
  sum.error += copies * term.error;
}

void add(Stationary& sum, const Stationary& term, double copies) {
  add(sum.consensus, term.consensus, copies);
  add(sum.excess_mean, term.excess_mean, copies);
  add(sum.excess_local, term.excess_local, copies);
}

/// The Hessian is repeated cyclically: whole rounds of it, then a rest.
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
  return first_at_most(
      [&](std::uint64_t t) { return after(modes, t)->excess_local.value; }, target, most);
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
  const bool alike = fleet.fleet.own_steps.empty();  // the theory knows one number of steps
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

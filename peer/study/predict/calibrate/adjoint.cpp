#include "peer/study/predict/calibrate/adjoint.h"

#include <cmath>
#include <utility>

#include "graph/predict/mean_lag.h"

namespace gv {
namespace {

constexpr double reach = 0.05;  ///< |e v| in (grad f(x + e v) - grad f(x - e v)) / 2 e

std::vector<float> displaced(const std::vector<float>& x, double factor, const Doubles& v) {
  std::vector<float> there = x;
  for (std::size_t k = 0; k < v.size(); ++k) there[k] += static_cast<float>(factor * v[k]);
  return there;
}

Doubles product(const FullGradient& gradient, const std::vector<float>& x, const Doubles& v) {
  const double length = std::sqrt(dot(v, v));
  if (length == 0) return Doubles(v.size());
  const double e = reach / length;
  Doubles image = gradient(displaced(x, e, v));
  add_scaled(image, -1, gradient(displaced(x, -e, v)));
  for (double& value : image) value /= 2 * e;
  return image;
}

std::vector<float> middle(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> x(a.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = (a[k] + b[k]) / 2;
  return x;
}

}  // namespace

AdjointPass::AdjointPass(std::span<const DescentNode> nodes,
                         FullGradient gradient,
                         std::size_t steps)
    : nodes_(nodes), gradient_(std::move(gradient)), steps_(steps) {}

AdjointPass::Backward AdjointPass::back_from(std::size_t last,
                                             std::span<const double> points) const {
  Backward back{.at_end = gradient_(nodes_[last].x), .at_start = {}, .integrals = {}};
  back.integrals.assign(points.size(), Doubles(back.at_end.size()));
  Doubles lambda = back.at_end;
  for (std::size_t node = last; node > 0; --node) {
    const DescentNode& from = nodes_[node - 1];
    const double length = nodes_[node].time - from.time;
    const std::vector<float> x = middle(from.x, nodes_[node].x);
    const SymmetricProduct hessian = [&](const Doubles& v) { return product(gradient_, x, v); };
    const LeadingPairs pairs = ritz_pairs(hessian, lambda, steps_);
    Doubles earlier(lambda.size());
    Doubles integral(lambda.size());
    for (std::size_t k = 0; k < pairs.values.size(); ++k) {
      const double h = pairs.values[k];
      const double part = dot(pairs.vectors[k], lambda);
      const double lasted = std::abs(h * length) < 1e-9 ? length : -std::expm1(-h * length) / h;
      add_scaled(earlier, part * std::exp(-h * length), pairs.vectors[k]);
      add_scaled(integral, part * lasted, pairs.vectors[k]);
    }
    const Between at = between_points(points, from.time + length / 2);
    add_scaled(back.integrals[at.point], 1 - at.weight, integral);
    if (at.weight > 0) add_scaled(back.integrals[at.point + 1], at.weight, integral);
    lambda = std::move(earlier);
  }
  back.at_start = std::move(lambda);
  return back;
}

}  // namespace gv

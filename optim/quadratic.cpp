#include <algorithm>
#include <stdexcept>

#include "optim/check.h"
#include "optim/objective.h"

// The oracle that the theory is exact for: a common diagonal Hessian, additive Gaussian noise.

namespace gv {
namespace {

/// b_i; empty when it is zero.
std::vector<float> center(const QuadraticSpec& spec, std::uint32_t i, const Rng& rng) {
  if (!spec.centers.empty()) {
    GV_CHECK(spec.centers[i].size() == spec.dimension, "a centre has the dimension of x");
    return {spec.centers[i].begin(), spec.centers[i].end()};
  }
  if (spec.spread == 0) return {};
  std::vector<float> b(spec.dimension);
  rng.derive("centers").derive(i).fill_normal(b);
  for (float& value : b) value *= static_cast<float>(spec.spread);
  return b;
}

class Quadratic : public Objective {
 public:
  Quadratic(const QuadraticSpec& spec,
            std::uint32_t peer,
            std::uint32_t peers,
            const Rng& rng,
            QuadraticOptimum optimum)
      : spec_(spec), noise_(rng.derive("noise").derive(peer)), optimum_(std::move(optimum)) {
    if (spec.dimension == 0 || spec.hessian.empty())
      throw std::invalid_argument("a quadratic needs a dimension and a hessian");
    if (!spec.centers.empty() && spec.centers.size() != peers)
      throw std::invalid_argument("one centre for each peer");
    center_ = center(spec, peer, rng);
  }

  std::vector<Parameter> parameters() const override { return {{"x", {spec_.dimension}}}; }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float> x, Rng) const override {
    std::ranges::fill(x, static_cast<float>(spec_.start));
  }

  double value_and_gradient(std::span<const float> x, std::uint32_t, std::span<float> g) override {
    const std::size_t d = x.size();
    if (spec_.noise != 0) {
      noise_.fill_normal(g);
    } else {
      std::ranges::fill(g, 0.0F);
    }
    const auto sigma = static_cast<float>(spec_.noise);
    double value = 0;
    for (std::size_t k = 0; k < d; ++k) {
      const float h = hessian(k);
      const float error = center_.empty() ? x[k] : x[k] - center_[k];
      value +=
          0.5 * static_cast<double>(h) * static_cast<double>(error) * static_cast<double>(error);
      g[k] = h * error + sigma * g[k];
    }
    return value;
  }

  /// f(x) - f*: 1/2 sum_k h_k (x_k - mean_i b_ik)^2, since the Hessian is common.
  Evaluation evaluate(std::span<const float> x) override {
    double value = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double error = static_cast<double>(x[k]) - (*optimum_)[k];
      value += 0.5 * static_cast<double>(hessian(k)) * error * error;
    }
    return {value, std::nullopt};
  }

  double gradient_flops(std::uint32_t) const override { return 4.0 * spec_.dimension; }

  void save(StateWriter& out) const override { noise_.save(out); }
  void restore(StateReader& in) override { noise_.restore(in); }

 private:
  float hessian(std::size_t k) const {
    return static_cast<float>(spec_.hessian[k % spec_.hessian.size()]);
  }

  QuadraticSpec spec_;
  Rng noise_;
  std::vector<float> center_;
  QuadraticOptimum optimum_;
};

}  // namespace

QuadraticOptimum quadratic_optimum(const QuadraticSpec& spec, std::uint32_t peers, const Rng& rng) {
  std::vector<double> mean(spec.dimension, 0);
  for (std::uint32_t i = 0; i < peers; ++i) {
    const std::vector<float> b = center(spec, i, rng);
    for (std::size_t k = 0; k < b.size(); ++k) mean[k] += static_cast<double>(b[k]) / peers;
  }
  return std::make_shared<const std::vector<double>>(std::move(mean));
}

std::vector<std::vector<double>> quadratic_centers(const QuadraticSpec& spec,
                                                   std::uint32_t peers,
                                                   const Rng& rng) {
  std::vector<std::vector<double>> rows;
  for (std::uint32_t i = 0; i < peers; ++i) {
    const std::vector<float> b = center(spec, i, rng);
    rows.emplace_back(b.begin(), b.end());
    rows.back().resize(spec.dimension);
  }
  return rows;
}

std::unique_ptr<Objective> make_quadratic(const QuadraticSpec& spec,
                                          std::uint32_t peer,
                                          std::uint32_t peers,
                                          const Rng& rng,
                                          QuadraticOptimum optimum) {
  if (!optimum) optimum = quadratic_optimum(spec, peers, rng);
  return std::make_unique<Quadratic>(spec, peer, peers, rng, std::move(optimum));
}

}  // namespace gv

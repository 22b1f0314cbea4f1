#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "optim/check.h"
#include "optim/models/model.h"

// The oracle for which the theory is exact: a common diagonal Hessian, additive Gaussian noise.

namespace gv {
namespace {

void check(const QuadraticSpec& spec, std::uint32_t peers) {
  if (spec.dimension == 0 || spec.hessian.empty()) {
    throw std::invalid_argument("quadratic: dimension " + std::to_string(spec.dimension) + " and " +
                                std::to_string(spec.hessian.size()) +
                                " values of the hessian; at least one of each");
  }
  if (!spec.centers.empty() && spec.centers.size() != peers) {
    throw std::invalid_argument("quadratic: " + std::to_string(spec.centers.size()) +
                                " centres for " + std::to_string(peers) +
                                " peers; one for each, or none to have them drawn");
  }
}

/// b_i; empty if it is zero.
std::vector<float> center(const QuadraticSpec& spec, std::uint32_t i, const Rng& rng) {
  if (!spec.centers.empty()) {
    GV_CHECK_EQUAL(spec.centers[i].size(), spec.dimension, "a centre has the dimension of x");
    return {spec.centers[i].begin(), spec.centers[i].end()};
  }
  if (spec.spread == 0) return {};
  std::vector<float> b(spec.dimension);
  rng.derive("centers").derive(i).fill_normal(b);
  for (float& value : b) value *= static_cast<float>(spec.spread);
  return b;
}

/// Cycles through the elements of a vector.
class Cycle {
 public:
  explicit Cycle(const std::vector<float>& values) : values_(values) {}
  float operator*() const { return values_[k_]; }
  void next() { k_ = k_ + 1 == values_.size() ? 0 : k_ + 1; }

 private:
  const std::vector<float>& values_;
  std::size_t k_ = 0;
};

class Quadratic : public Objective {
 public:
  Quadratic(const QuadraticSpec& spec, std::uint32_t peer, const Rng& rng, QuadraticOptimum optimum)
      : dimension_(spec.dimension),
        sigma_(static_cast<float>(spec.noise)),
        start_(static_cast<float>(spec.start)),
        noise_(rng.derive("noise").derive(peer)),
        center_(center(spec, peer, rng)),
        optimum_(std::move(optimum)) {
    for (const double h : spec.hessian) hessian_.push_back(static_cast<float>(h));
  }

  std::vector<Parameter> parameters() const override { return {{"x", {dimension_}}}; }
  std::uint32_t samples() const override { return 0; }
  void initialize(std::span<float> x, Rng) const override { std::ranges::fill(x, start_); }

  double value_and_gradient(std::span<const float> x, std::uint32_t, std::span<float> g) override {
    draw_noise(g);
    return gradient(x, center_, g);
  }

  /// A sample consists of b_i and noise.
  std::vector<Slice> draw(std::uint32_t, std::uint32_t parts) override {
    std::vector<Slice> slices;
    if (parts == 0) draw_sample();
    for (std::uint32_t k = 0; k < parts; ++k) slices.push_back({draw_sample(), 1.0 / parts});
    return slices;
  }
  std::optional<double> gradient_over(std::span<const float> x,
                                      const Buffer& samples,
                                      std::span<float> g) override {
    if (samples.size() != 2 * x.size_bytes() || !all_finite(samples.floats())) return std::nullopt;
    std::ranges::copy(samples.floats().last(x.size()), g.begin());
    return gradient(x, samples.floats().first(x.size()), g);
  }

  /// f(x) - f*: 1/2 sum_k h_k (x_k - mean_i b_ik)^2, since the Hessian is common.
  Evaluation evaluate(std::span<const float> x) override {
    double value = 0;
    Cycle h(hessian_);
    for (std::size_t k = 0; k < x.size(); ++k, h.next()) {
      const double error = static_cast<double>(x[k]) - (*optimum_)[k];
      value += 0.5 * static_cast<double>(*h) * error * error;
    }
    return {value, std::nullopt};
  }

  double gradient_flops(std::uint32_t) const override { return 4.0 * dimension_; }

  void save(StateWriter& out) const override { noise_.save(out); }
  void restore(StateReader& in) override { noise_.restore(in); }

 private:
  void draw_noise(std::span<float> to) {
    if (sigma_ != 0) return noise_.fill_normal(to);
    std::ranges::fill(to, 0.0F);
  }
  std::shared_ptr<Buffer> draw_sample() {
    auto sample = std::make_shared<Buffer>(2 * dimension_ * sizeof(float));
    std::ranges::fill(sample->floats(), 0.0F);
    std::ranges::copy(center_, sample->floats().begin());
    draw_noise(sample->floats().last(dimension_));
    return sample;
  }

  /// g is the noise at first, and the gradient at the end. center is b_i; empty if it is zero.
  double gradient(std::span<const float> x, std::span<const float> center, std::span<float> g) {
    double value = 0;
    Cycle h(hessian_);
    for (std::size_t k = 0; k < x.size(); ++k, h.next()) {
      const float error = center.empty() ? x[k] : x[k] - center[k];
      value +=
          0.5 * static_cast<double>(*h) * static_cast<double>(error) * static_cast<double>(error);
      g[k] = *h * error + sigma_ * g[k];
    }
    return value;
  }

  std::uint32_t dimension_;
  std::vector<float> hessian_;  ///< repeated cyclically
  float sigma_, start_;
  Rng noise_;
  std::vector<float> center_;
  QuadraticOptimum optimum_;
};

}  // namespace

QuadraticOptimum quadratic_optimum(const QuadraticSpec& spec, std::uint32_t peers, const Rng& rng) {
  check(spec, peers);
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
  check(spec, peers);
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
  check(spec, peers);
  if (!optimum) optimum = quadratic_optimum(spec, peers, rng);
  return std::make_unique<Quadratic>(spec, peer, rng, std::move(optimum));
}

ModelRow quadratic_model() {
  return {.kind = "quadratic",
          .summary = "the vector x of `data: { kind: quadratic }`",
          .fits = {DataForm::oracle},
          .example = "{ kind: quadratic }"};
}

}  // namespace gv

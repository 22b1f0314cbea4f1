#include <algorithm>
#include <numeric>

#include "optim/models/model.h"
#include "optim/models/objective.h"

namespace gv {
namespace {

/// f(w, b) = 1/(2B) sum (a . w + b - y)^2. Parameters: fc.weight [1, features], fc.bias [1]. Starts
/// at zero.
class LinearRegression : public SampledObjective {
 public:
  using SampledObjective::SampledObjective;

  std::vector<Parameter> parameters() const override {
    return {{"fc.weight", {1, train_->features}}, {"fc.bias", {1}}};
  }
  void initialize(std::span<float> x, Rng) const override { std::ranges::fill(x, 0.0F); }

  Evaluation evaluate(std::span<const float> x) override {
    std::vector<std::uint32_t> rows(test_->rows);
    std::iota(rows.begin(), rows.end(), 0U);
    features_.resize(rows.size() * test_->features);
    test_->gather(rows, features_);
    double value = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double error = static_cast<double>(predict(x, row(r)) - test_->targets[r]);
      value += 0.5 * error * error;
    }
    return {value / static_cast<double>(rows.size()), std::nullopt};
  }

  double gradient_flops(std::uint32_t batch) const override {
    return 4.0 * train_->features * batch;
  }

 private:
  double gradient(std::span<const float> x,
                  const Dataset& data,
                  std::span<const std::uint32_t> rows,
                  std::span<const View>,
                  std::span<float> g) override {
    std::ranges::fill(g, 0.0F);
    const float share = 1.0F / static_cast<float>(rows.size());
    double value = 0;
    features_.resize(rows.size() * data.features);
    data.gather(rows, features_);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::span<const float> a = row(r);
      const float error = predict(x, a) - data.targets[rows[r]];
      value += 0.5 * static_cast<double>(error) * static_cast<double>(error);
      for (std::size_t c = 0; c < a.size(); ++c) g[c] += share * error * a[c];
      g.back() += share * error;
    }
    return value / static_cast<double>(rows.size());
  }

  std::span<const float> row(std::size_t r) const {
    return std::span<const float>(features_).subspan(r * train_->features, train_->features);
  }
  static float predict(std::span<const float> x, std::span<const float> a) {
    float sum = x.back();
    for (std::size_t c = 0; c < a.size(); ++c) sum += x[c] * a[c];
    return sum;
  }

  std::vector<float> features_;
};

std::unique_ptr<Objective> make_linear_regression(Share share) {
  return std::make_unique<LinearRegression>(std::move(share));
}

}  // namespace

ModelRow linear_model() {
  return {.kind = "linear",
          .summary = "linear regression, from zero",
          .fits = {DataForm::targets},
          .objective = make_linear_regression,
          .example = "{ kind: linear }"};
}

}  // namespace gv

#include "optim/train/false_gradient.h"

#include <algorithm>
#include <utility>

#include "optim/state.h"

namespace gv {
namespace {

class FalseObjective : public Objective {
 public:
  FalseObjective(std::unique_ptr<Objective> honest, FalseGradient lie)
      : honest_(std::move(honest)), lie_(lie) {}

  std::vector<Parameter> parameters() const override { return honest_->parameters(); }
  std::uint32_t samples() const override { return honest_->samples(); }
  void initialize(std::span<float> x, Rng rng) const override { honest_->initialize(x, rng); }
  double value_and_gradient(std::span<const float> x,
                            std::uint32_t batch,
                            std::span<float> g) override {
    const double loss = honest_->value_and_gradient(x, batch, g);
    falsify(g);
    return loss;
  }
  std::vector<Slice> draw(std::uint32_t batch, std::uint32_t parts) override {
    return honest_->draw(batch, parts);
  }
  std::optional<double> gradient_over(std::span<const float> x,
                                      const Buffer& samples,
                                      std::span<float> g) override {
    const std::optional<double> loss = honest_->gradient_over(x, samples, g);
    if (loss) falsify(g);
    return loss;
  }
  /// What the steps have moved x by is as false as a gradient.
  double descend(std::span<float> x, const Descent& descent) override {
    const std::vector<float> before(x.begin(), x.end());
    const double loss = honest_->descend(x, descent);
    std::vector<float> moved(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) moved[k] = before[k] - x[k];
    falsify(moved);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = before[k] - moved[k];
    return loss;
  }
  bool shares_descent() const override { return honest_->shares_descent(); }
  Evaluation evaluate(std::span<const float> x) override { return honest_->evaluate(x); }
  double gradient_flops(std::uint32_t batch) const override {
    return honest_->gradient_flops(batch);
  }
  void save(StateWriter& out) const override {
    out.u64(count_);
    honest_->save(out);
  }
  void restore(StateReader& in) override {
    count_ = in.u64();
    honest_->restore(in);
  }

 private:
  void falsify(std::span<float> g) {
    if (count_++ == lie_.at)
      std::ranges::fill(g, lie_.value);
    else if (lie_.factor != 1)
      for (float& value : g) value *= lie_.factor;
  }

  std::unique_ptr<Objective> honest_;
  FalseGradient lie_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::unique_ptr<Objective> make_false(std::unique_ptr<Objective> honest, FalseGradient lie) {
  return std::make_unique<FalseObjective>(std::move(honest), lie);
}

}  // namespace gv

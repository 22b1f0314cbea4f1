#include "optim/train/accumulated_adam.h"

#include <cmath>
#include <vector>

namespace gv {
namespace {

class AccumulatedAdam : public Optimizer {
 public:
  AccumulatedAdam(const OptimizerSpec& spec, std::size_t d)
      : spec_(spec), first_(d), second_(d), mean_(d) {}

  double rate() const override { return spec_.schedule.rate(spec_.lr, {t_}); }
  void begin_step() override {
    gamma_ = spec_.schedule.own_rate(spec_.lr, {t_++});
    const auto windows = static_cast<double>(seen_++ / spec_.accumulate + 1);
    correction1_ = 1 - std::pow(spec_.beta1, windows);
    correction2_ = 1 - std::pow(spec_.beta2, windows);
  }

  void apply(std::size_t offset, std::span<float> x, std::span<const float> g) override {
    const auto beta1 = static_cast<float>(spec_.beta1);
    const auto beta2 = static_cast<float>(spec_.beta2);
    const bool decoupled = spec_.kind == "adamw";
    const auto shrink = static_cast<float>(decoupled ? gamma_ * spec_.weight_decay : 0);
    const auto decay = static_cast<float>(decoupled ? 0 : spec_.weight_decay);
    const auto epsilon = static_cast<float>(spec_.epsilon);
    const auto size = static_cast<float>(gamma_ / correction1_);
    const auto root = static_cast<float>(1 / std::sqrt(correction2_));
    const auto share = static_cast<float>(1.0 / static_cast<double>(spec_.accumulate));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const float gradient = g[k] + decay * x[k];
      const float m = beta1 * first_[offset + k] + (1 - beta1) * gradient;
      const float v = beta2 * second_[offset + k] + (1 - beta2) * gradient * gradient;
      x[k] -= shrink * x[k];
      x[k] -= size * m / (std::sqrt(v) * root + epsilon);
      mean_[offset + k] += share * gradient;
    }
    if (seen_ % spec_.accumulate == 0) take_mean(offset, x.size());
  }

  void save(StateWriter& out) const override {
    out.name(name());
    out.values(first_);
    out.values(second_);
    out.values(mean_);
    out.u64(t_);
    out.u64(seen_);
    out.real(gamma_);
  }
  void restore(StateReader& in) override {
    in.name(name());
    in.values(first_);
    in.values(second_);
    in.values(mean_);
    t_ = in.u64();
    seen_ = in.u64();
    gamma_ = in.real();
  }
  void skip_to(GradientStep t) override { t_ = t.value; }

 private:
  const char* name() const {
    return spec_.kind == "adamw" ? "accumulated adamw" : "accumulated adam";
  }

  /// The window is over.
  void take_mean(std::size_t offset, std::size_t count) {
    const auto beta1 = static_cast<float>(spec_.beta1);
    const auto beta2 = static_cast<float>(spec_.beta2);
    for (std::size_t k = offset; k < offset + count; ++k) {
      first_[k] = beta1 * first_[k] + (1 - beta1) * mean_[k];
      second_[k] = beta2 * second_[k] + (1 - beta2) * mean_[k] * mean_[k];
      mean_[k] = 0;
    }
  }

  OptimizerSpec spec_;
  std::vector<float> first_, second_;  ///< M, V
  std::vector<float> mean_;            ///< of the window's gradients, as far as it has come
  std::uint64_t t_ = 0;                ///< of the schedule
  std::uint64_t seen_ = 0;             ///< steps taken; not t_ after skip_to
  double gamma_ = 0, correction1_ = 1, correction2_ = 1;
};

}  // namespace

std::unique_ptr<Optimizer> make_accumulated_adam(const OptimizerSpec& spec, std::size_t d) {
  return std::make_unique<AccumulatedAdam>(spec, d);
}

}  // namespace gv

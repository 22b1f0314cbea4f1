#include "optim/train/optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace gv {
namespace {

class Sgd : public Optimizer {
 public:
  Sgd(const OptimizerSpec& spec, std::size_t d)
      : spec_(spec), velocity_(spec.momentum != 0 ? d : 0) {}

  double rate() const override { return spec_.schedule.rate(spec_.lr, {t_}); }
  void begin_step() override { gamma_ = spec_.schedule.own_rate(spec_.lr, {t_++}); }

  void apply(std::size_t offset, std::span<float> x, std::span<const float> g) override {
    const auto gamma = static_cast<float>(gamma_);
    const auto decay = static_cast<float>(spec_.weight_decay);
    if (velocity_.empty()) {
      for (std::size_t k = 0; k < x.size(); ++k) x[k] -= gamma * (g[k] + decay * x[k]);
      return;
    }
    const auto momentum = static_cast<float>(spec_.momentum);
    float* u = velocity_.data() + offset;
    if (spec_.nesterov) {
      for (std::size_t k = 0; k < x.size(); ++k) {
        const float gradient = g[k] + decay * x[k];
        u[k] = momentum * u[k] + gradient;
        x[k] -= gamma * (gradient + momentum * u[k]);
      }
      return;
    }
    for (std::size_t k = 0; k < x.size(); ++k) {
      u[k] = momentum * u[k] + (g[k] + decay * x[k]);
      x[k] -= gamma * u[k];
    }
  }

  void save(StateWriter& out) const override {
    out.name("sgd");
    out.values(velocity_);
    out.u64(t_);
    out.real(gamma_);
  }
  void restore(StateReader& in) override {
    in.name("sgd");
    in.values(velocity_);
    t_ = in.u64();
    gamma_ = in.real();
  }
  void skip_to(GradientStep t) override { t_ = t.value; }

 private:
  OptimizerSpec spec_;
  std::vector<float> velocity_;
  std::uint64_t t_ = 0;
  double gamma_ = 0;
};

/// Adam, and AdamW, whose decay is not part of the gradient.
template <bool decoupled>
class Adam : public Optimizer {
 public:
  Adam(const OptimizerSpec& spec, std::size_t d) : spec_(spec), first_(d), second_(d) {}

  double rate() const override { return spec_.schedule.rate(spec_.lr, {t_}); }
  void begin_step() override {
    gamma_ = spec_.schedule.own_rate(spec_.lr, {t_++});
    const auto t = static_cast<double>(++seen_);
    correction1_ = 1 - std::pow(spec_.beta1, t);
    correction2_ = 1 - std::pow(spec_.beta2, t);
  }

  void apply(std::size_t offset, std::span<float> x, std::span<const float> g) override {
    const auto beta1 = static_cast<float>(spec_.beta1);
    const auto beta2 = static_cast<float>(spec_.beta2);
    const auto decay = static_cast<float>(spec_.weight_decay);
    const auto shrink = static_cast<float>(gamma_ * spec_.weight_decay);
    const auto epsilon = static_cast<float>(spec_.epsilon);
    const auto size = static_cast<float>(gamma_ / correction1_);
    const auto root = static_cast<float>(1 / std::sqrt(correction2_));
    float* m = first_.data() + offset;
    float* v = second_.data() + offset;
    for (std::size_t k = 0; k < x.size(); ++k) {
      float gradient = g[k];
      if constexpr (decoupled)
        x[k] -= shrink * x[k];
      else
        gradient += decay * x[k];
      m[k] = beta1 * m[k] + (1 - beta1) * gradient;
      v[k] = beta2 * v[k] + (1 - beta2) * gradient * gradient;
      x[k] -= size * m[k] / (std::sqrt(v[k]) * root + epsilon);
    }
  }

  void save(StateWriter& out) const override {
    out.name(name);
    out.values(first_);
    out.values(second_);
    out.u64(t_);
    out.u64(seen_);
    out.real(gamma_);
  }
  void restore(StateReader& in) override {
    in.name(name);
    in.values(first_);
    in.values(second_);
    t_ = in.u64();
    seen_ = in.u64();
    gamma_ = in.real();
  }
  void skip_to(GradientStep t) override { t_ = t.value; }

 private:
  static constexpr const char* name = decoupled ? "adamw" : "adam";

  OptimizerSpec spec_;
  std::vector<float> first_, second_;
  std::uint64_t t_ = 0;     ///< step of the schedule
  std::uint64_t seen_ = 0;  ///< steps in the moments; differs from t_ after skip_to
  double gamma_ = 0, correction1_ = 1, correction2_ = 1;
};

/// z <- z + g^2, x <- x - gamma g / (sqrt(z) + epsilon). Duchi, Hazan & Singer, "Adaptive
/// subgradient methods", JMLR 12, 2011.
class AdaGrad : public Optimizer {
 public:
  AdaGrad(const OptimizerSpec& spec, std::size_t d) : spec_(spec), squares_(d) {}

  double rate() const override { return spec_.schedule.rate(spec_.lr, {t_}); }
  void begin_step() override { gamma_ = spec_.schedule.own_rate(spec_.lr, {t_++}); }
  void apply(std::size_t offset, std::span<float> x, std::span<const float> g) override {
    const auto gamma = static_cast<float>(gamma_);
    const auto decay = static_cast<float>(spec_.weight_decay);
    const auto epsilon = static_cast<float>(spec_.epsilon);
    float* z = squares_.data() + offset;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const float gradient = g[k] + decay * x[k];
      z[k] += gradient * gradient;
      x[k] -= gamma * gradient / (std::sqrt(z[k]) + epsilon);
    }
  }

  void save(StateWriter& out) const override {
    out.name("adagrad");
    out.values(squares_);
    out.u64(t_);
    out.real(gamma_);
  }
  void restore(StateReader& in) override {
    in.name("adagrad");
    in.values(squares_);
    t_ = in.u64();
    gamma_ = in.real();
  }
  void skip_to(GradientStep t) override { t_ = t.value; }

 private:
  OptimizerSpec spec_;
  std::vector<float> squares_;  ///< z
  std::uint64_t t_ = 0;
  double gamma_ = 0;
};

/// AdaGrad that revises earlier steps for late gradients. McMahan & Streeter, "Delay-tolerant
/// algorithms for asynchronous distributed online learning", NIPS 2014, Algorithm 1. z begins at 1,
/// so that the first steps are not longer than gamma.
class AdaptiveRevision : public Optimizer {
 public:
  AdaptiveRevision(const OptimizerSpec& spec, std::size_t d)
      : spec_(spec), sum_(d, 1.0F), largest_(d, 1.0F) {}

  double rate() const override { return spec_.schedule.rate(spec_.lr, {t_}); }
  void begin_step() override { gamma_ = spec_.schedule.own_rate(spec_.lr, {t_++}); }
  void apply(std::size_t offset, std::span<float> x, std::span<const float> g) override {
    const std::vector<float> nothing(x.size());
    revise(offset, x, g, nothing);
  }
  void revise(std::size_t offset,
              std::span<float> x,
              std::span<const float> g,
              std::span<const float> missed) override {
    const auto gamma = static_cast<float>(gamma_);
    float* z = sum_.data() + offset;
    float* most = largest_.data() + offset;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const float before = gamma / std::sqrt(most[k]);
      z[k] += g[k] * g[k] + 2 * g[k] * missed[k];
      most[k] = std::max(most[k], z[k]);
      const float now = gamma / std::sqrt(most[k]);
      x[k] += (before - now) * missed[k] - now * g[k];
    }
  }

  void save(StateWriter& out) const override {
    out.name("adaptive-revision");
    out.values(sum_);
    out.values(largest_);
    out.u64(t_);
    out.real(gamma_);
  }
  void restore(StateReader& in) override {
    in.name("adaptive-revision");
    in.values(sum_);
    in.values(largest_);
    t_ = in.u64();
    gamma_ = in.real();
  }
  void skip_to(GradientStep t) override { t_ = t.value; }

 private:
  OptimizerSpec spec_;
  std::vector<float> sum_, largest_;  ///< z, z'
  std::uint64_t t_ = 0;
  double gamma_ = 0;
};

void check(const LearningRate& schedule) {
  const std::array<std::string_view, 5> kinds{"constant", "step", "linear", "cosine", "lian"};
  if (std::ranges::find(kinds, schedule.kind) == kinds.end()) {
    throw std::invalid_argument("unknown schedule `" + schedule.kind +
                                "`: constant, step, linear, cosine or lian");
  }
  if (schedule.own_steps == 0)
    throw std::invalid_argument("a peer takes no step in a round: at least 1");
  if (schedule.kind == "step" && schedule.every == 0)
    throw std::invalid_argument("schedule `step` every 0 steps: at least 1");
}

/// Returns the completed part of a schedule's decay to zero at step t. The decay begins after the
/// warm-up, and ends with the run.
double decayed(const LearningRate& schedule, std::uint64_t t) {
  if (t <= schedule.warmup) return 0;
  if (schedule.total <= schedule.warmup) return 1;
  return std::min(1.0, static_cast<double>(t - schedule.warmup) /
                           static_cast<double>(schedule.total - schedule.warmup));
}

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

  /// Ends the window: updates M and V by its mean gradient.
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
  std::vector<float> mean_;            ///< mean of the window's gradients until now
  std::uint64_t t_ = 0;                ///< step of the schedule
  std::uint64_t seen_ = 0;             ///< steps taken; differs from t_ after skip_to
  double gamma_ = 0, correction1_ = 1, correction2_ = 1;
};

enum class Rule : std::uint8_t { adagrad, adam, yogi };

Rule rule_of(const std::string& kind) {
  if (kind == "fed-adagrad") return Rule::adagrad;
  return kind == "fed-adam" ? Rule::adam : Rule::yogi;
}

class ServerOptimizer : public Optimizer {
 public:
  ServerOptimizer(const OptimizerSpec& spec, std::size_t d)
      : spec_(spec),
        rule_(rule_of(spec.kind)),
        first_(d),
        second_(d, static_cast<float>(spec.epsilon * spec.epsilon)) {}

  double rate() const override { return spec_.schedule.rate(spec_.lr, {t_}); }
  void begin_step() override { gamma_ = spec_.schedule.own_rate(spec_.lr, {t_++}); }

  void apply(std::size_t offset, std::span<float> x, std::span<const float> g) override {
    const auto gamma = static_cast<float>(gamma_);
    const auto beta1 = static_cast<float>(spec_.beta1);
    const auto tau = static_cast<float>(spec_.epsilon);
    float* m = first_.data() + offset;
    float* v = second_.data() + offset;
    for (std::size_t k = 0; k < x.size(); ++k) {
      m[k] = beta1 * m[k] + (1 - beta1) * g[k];
      v[k] = next(v[k], g[k] * g[k]);
      x[k] -= gamma * m[k] / (std::sqrt(v[k]) + tau);
    }
  }

  void save(StateWriter& out) const override {
    out.name(spec_.kind);
    out.values(first_);
    out.values(second_);
    out.u64(t_);
    out.real(gamma_);
  }
  void restore(StateReader& in) override {
    in.name(spec_.kind);
    in.values(first_);
    in.values(second_);
    t_ = in.u64();
    gamma_ = in.real();
  }
  void skip_to(GradientStep t) override { t_ = t.value; }

 private:
  float next(float v, float square) const {
    const auto beta2 = static_cast<float>(spec_.beta2);
    switch (rule_) {
      case Rule::adagrad:
        return v + square;
      case Rule::adam:
        return beta2 * v + (1 - beta2) * square;
      case Rule::yogi:
        break;
    }
    if (v == square) return v;
    return v > square ? v - (1 - beta2) * square : v + (1 - beta2) * square;
  }

  OptimizerSpec spec_;
  Rule rule_;
  std::vector<float> first_, second_;  ///< m, v
  std::uint64_t t_ = 0;
  double gamma_ = 0;
};

}  // namespace

void Optimizer::revise(std::size_t,
                       std::span<float>,
                       std::span<const float>,
                       std::span<const float>) {
  throw std::logic_error("this optimizer revises nothing");
}

double LearningRate::rate(double lr, GradientStep step) const {
  // The fleet's number of steps: step.value * mean_steps / own_steps, without overflow.
  const std::uint64_t t =
      step.value / own_steps * mean_steps + step.value % own_steps * mean_steps / own_steps;
  double gamma = lr;
  if (kind == "step") {
    gamma = lr * std::pow(factor, static_cast<double>(t / every));
  } else if (kind == "linear" && total > 0) {
    gamma = lr * (1 - decayed(*this, t));
  } else if (kind == "cosine" && total > 0) {
    gamma = lr * 0.5 * (1 + std::cos(std::numbers::pi * decayed(*this, t)));
  } else if (kind == "lian") {
    gamma = 1 / (2 * lipschitz + sigma * std::sqrt(static_cast<double>(total) / peers));
  }
  if (t < warmup) gamma *= static_cast<double>(t + 1) / static_cast<double>(warmup);
  return gamma;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, std::size_t d) {
  check(spec.schedule);
  if (spec.accumulate == 0)
    throw std::invalid_argument("moments take the mean of no gradient: at least 1");
  const bool adam = spec.kind == "adam" || spec.kind == "adamw";
  if (adam && spec.accumulate > 1) return make_accumulated_adam(spec, d);
  if (spec.kind == "adam") return std::make_unique<Adam<false>>(spec, d);
  if (spec.kind == "adamw") return std::make_unique<Adam<true>>(spec, d);
  if (spec.kind == "adagrad") return std::make_unique<AdaGrad>(spec, d);
  if (spec.kind == "adaptive-revision") return std::make_unique<AdaptiveRevision>(spec, d);
  if (is_server_optimizer(spec.kind)) return make_server_optimizer(spec, d);
  if (spec.kind != "sgd")
    throw std::invalid_argument(
        "unknown optimizer `" + spec.kind +
        "`: sgd, adam, adamw, adagrad, adaptive-revision, fed-adagrad, fed-adam "
        "or fed-yogi");
  if (spec.nesterov && spec.momentum == 0)
    throw std::invalid_argument("nesterov needs a momentum above 0");
  return std::make_unique<Sgd>(spec, d);
}

std::unique_ptr<Optimizer> make_accumulated_adam(const OptimizerSpec& spec, std::size_t d) {
  return std::make_unique<AccumulatedAdam>(spec, d);
}

bool is_server_optimizer(const std::string& kind) {
  return kind == "fed-adagrad" || kind == "fed-adam" || kind == "fed-yogi";
}

std::unique_ptr<Optimizer> make_server_optimizer(const OptimizerSpec& spec, std::size_t d) {
  return std::make_unique<ServerOptimizer>(spec, d);
}

}  // namespace gv

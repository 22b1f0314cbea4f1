#include "optim/train/server_optimizer.h"

#include <cmath>
#include <vector>

namespace gv {
namespace {

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

bool is_server_optimizer(const std::string& kind) {
  return kind == "fed-adagrad" || kind == "fed-adam" || kind == "fed-yogi";
}

std::unique_ptr<Optimizer> make_server_optimizer(const OptimizerSpec& spec, std::size_t d) {
  return std::make_unique<ServerOptimizer>(spec, d);
}

}  // namespace gv

#include "gpu/replica/step_plan.h"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace gv::gpu {
namespace {

StepRule::Kind kind_of(const OptimizerSpec& spec) {
  make_optimizer(spec, 0);  // throws if it is not an optimizer
  if (spec.accumulate > 1) throw std::invalid_argument("`accumulate` works only on the CPU");
  if (spec.kind == "adam") return StepRule::Kind::adam;
  if (spec.kind == "adamw") return StepRule::Kind::adamw;
  if (spec.kind != "sgd") throw std::invalid_argument("`" + spec.kind + "` works only on the CPU");
  if (spec.momentum == 0) return StepRule::Kind::plain;
  return spec.nesterov ? StepRule::Kind::nesterov : StepRule::Kind::momentum;
}

/// Returns the name as optim/train/optimizer.cpp writes it.
const char* name_of(StepRule::Kind kind) {
  if (!has_moments(kind)) return "sgd";
  return kind == StepRule::Kind::adam ? "adam" : "adamw";
}

}  // namespace

StepClock::StepClock(const OptimizerSpec& spec) : spec_(spec), kind_(kind_of(spec)) {}

int StepClock::vectors() const {
  if (kind_ == StepRule::Kind::plain) return 0;
  return has_moments(kind_) ? 2 : 1;
}

void StepClock::begin_step() {
  gamma_ = spec_.schedule.own_rate(spec_.lr, {t_++});
  if (!has_moments(kind_)) return;
  const auto t = static_cast<double>(++seen_);
  correction1_ = 1 - std::pow(spec_.beta1, t);
  correction2_ = 1 - std::pow(spec_.beta2, t);
}

StepRule StepClock::rule() const {
  StepRule rule;
  rule.kind = kind_;
  const bool decoupled = kind_ == StepRule::Kind::adamw;
  rule.decay = static_cast<float>(decoupled ? gamma_ * spec_.weight_decay : spec_.weight_decay);
  rule.gamma = static_cast<float>(gamma_);
  rule.momentum = static_cast<float>(spec_.momentum);
  rule.beta1 = static_cast<float>(spec_.beta1);
  rule.beta2 = static_cast<float>(spec_.beta2);
  rule.epsilon = static_cast<float>(spec_.epsilon);
  rule.size = static_cast<float>(gamma_ / correction1_);
  rule.root = static_cast<float>(1 / std::sqrt(correction2_));
  return rule;
}

void StepClock::save(StateWriter& out,
                     std::span<const float> first,
                     std::span<const float> second) const {
  const bool adam = has_moments(kind_);
  out.name(name_of(kind_));
  out.values(first);
  if (adam) out.values(second);
  out.u64(t_);
  if (adam) out.u64(seen_);
  out.real(gamma_);
}

void StepClock::restore(StateReader& in, std::span<float> first, std::span<float> second) {
  const bool adam = has_moments(kind_);
  in.name(name_of(kind_));
  in.values(first);
  if (adam) in.values(second);
  t_ = in.u64();
  if (adam) seen_ = in.u64();
  gamma_ = in.real();
}

BatchesAhead::BatchesAhead(Minibatches batches, std::uint32_t batch)
    : used_(std::move(batches)), ahead_(used_), batch_(batch), rows_(ahead_.next(batch_)) {}

void BatchesAhead::step() {
  used_.next(batch_);
  rows_ = ahead_.next(batch_);
}

void BatchesAhead::restore(StateReader& in) {
  used_.restore(in);
  ahead_ = used_;
  rows_ = ahead_.next(batch_);
}

}  // namespace gv::gpu

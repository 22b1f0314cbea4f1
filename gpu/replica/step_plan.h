#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/device/arithmetic.h"
#include "optim/data/packed.h"
#include "optim/train/optimizer.h"

// Plans of training steps that the host keeps ahead of the device, and that need no device.

namespace gv::gpu {

/// The part of an Optimizer that is not elementwise: the number of the step, and the numbers of its
/// rule. Its state has the format of optim/train/optimizer.cpp, so that a checkpoint moves
/// between devices.
class StepClock {
 public:
  /// Throws std::invalid_argument as make_optimizer does.
  explicit StepClock(const OptimizerSpec& spec);

  StepRule::Kind kind() const { return kind_; }
  /// Number of vectors of length d that the rule keeps: 0, 1 (velocity) or 2 (moments).
  int vectors() const;

  double rate() const { return spec_.schedule.rate(spec_.lr, {t_}); }  ///< as Optimizer::rate
  void begin_step();                                                   ///< as Optimizer::begin_step
  StepRule rule() const;

  /// first, second: host copies of the kept vectors; empty if the rule keeps none.
  void save(StateWriter& out, std::span<const float> first, std::span<const float> second) const;
  void restore(StateReader& in, std::span<float> first, std::span<float> second);
  void skip_to(GradientStep t) { t_ = t.value; }

 private:
  OptimizerSpec spec_;
  StepRule::Kind kind_;
  std::uint64_t t_ = 0;     ///< step of the schedule
  std::uint64_t seen_ = 0;  ///< adam, adamw: number of steps in the moments
  double gamma_ = 0, correction1_ = 1, correction2_ = 1;
};

/// Minibatches drawn one step ahead, so that they travel to the device while it computes. The
/// minibatch drawn ahead is not saved: a checkpoint is the same as without drawing ahead.
class BatchesAhead {
 public:
  BatchesAhead(Minibatches batches, std::uint32_t batch);

  /// Batch of the next step; valid until step() or restore().
  std::span<const std::uint32_t> rows() const { return rows_; }
  std::span<const View> views() const { return ahead_.views(); }
  /// Counts the current batch as used and draws the next one; called when its step is under way.
  void step();

  void save(StateWriter& out) const { used_.save(out); }
  void restore(StateReader& in);

 private:
  Minibatches used_;   ///< state of training
  Minibatches ahead_;  ///< one batch ahead
  std::uint32_t batch_;
  std::span<const std::uint32_t> rows_;
};

}  // namespace gv::gpu

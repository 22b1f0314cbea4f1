#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "optim/rl/environment.h"
#include "optim/rl/memory.h"

namespace gv {

using TakeTransition = std::function<void(const Transition&)>;

/// Makes the steps of one environment into transitions over n of them, and over fewer where the
/// episode ends before: with a future where it was cut, without one where it was over. Sutton 1988,
/// "Learning to predict by the methods of temporal differences".
class NStep {
 public:
  NStep(std::uint32_t n, double discount, std::uint32_t numbers);
  /// A step from `seen` to `next`; calls `take` for each transition that it completes.
  void step(std::span<const float> seen,
            std::uint32_t action,
            const Environment::Step& step,
            std::span<const float> next,
            const TakeTransition& take);

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for what is no beginning of n steps over so many actions.
  void restore(StateReader& in, std::uint32_t actions);

 private:
  std::size_t place(std::uint32_t k) const { return (first_ + k) % n_; }
  void complete_first(bool over, std::span<const float> next, const TakeTransition& take);

  std::uint32_t n_;
  double discount_;
  std::uint32_t numbers_;
  std::uint32_t first_ = 0;  ///< place of the oldest step whose transition is not complete
  std::uint32_t count_ = 0;  ///< of those steps
  std::vector<float> seen_;  ///< [n][numbers]
  std::vector<std::uint32_t> actions_;
  std::vector<float> rewards_;
};

}  // namespace gv

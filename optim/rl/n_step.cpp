#include "optim/rl/n_step.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gv {

NStep::NStep(std::uint32_t n, double discount, std::uint32_t numbers)
    : n_(n),
      discount_(discount),
      numbers_(numbers),
      seen_(std::size_t{n} * numbers),
      actions_(n),
      rewards_(n) {}

void NStep::step(std::span<const float> seen,
                 std::uint32_t action,
                 const Environment::Step& step,
                 std::span<const float> next,
                 const TakeTransition& take) {
  const std::size_t at = place(count_++);
  std::ranges::copy(seen, seen_.begin() + static_cast<std::ptrdiff_t>(at * numbers_));
  actions_[at] = action;
  rewards_[at] = step.reward;
  if (step.ended())
    while (count_ > 0) complete_first(step.over, next, take);
  else if (count_ == n_)
    complete_first(false, next, take);
}

void NStep::complete_first(bool over, std::span<const float> next, const TakeTransition& take) {
  double factor = 1;
  double reward = 0;
  for (std::uint32_t k = 0; k < count_; ++k, factor *= discount_)
    reward += factor * static_cast<double>(rewards_[place(k)]);
  take({.seen = std::span(seen_).subspan(std::size_t{first_} * numbers_, numbers_),
        .action = actions_[first_],
        .reward = static_cast<float>(reward),
        .future = over ? 0.0F : static_cast<float>(factor),
        .next = next});
  first_ = static_cast<std::uint32_t>(place(1));
  --count_;
}

void NStep::save(StateWriter& out) const {
  out.name("steps");
  out.u64(first_);
  out.u64(count_);
  out.values(seen_);
  out.values(actions_);
  out.values(rewards_);
}

void NStep::restore(StateReader& in, std::uint32_t actions) {
  in.name("steps");
  const std::uint64_t first = in.u64();
  const std::uint64_t count = in.u64();
  in.values(seen_);
  in.values(actions_);
  in.values(rewards_);
  const auto finite = [](float v) { return std::isfinite(v); };
  if (first >= n_ || count >= n_ || !std::ranges::all_of(seen_, finite) ||
      !std::ranges::all_of(rewards_, finite) ||
      !std::ranges::all_of(actions_, [&](std::uint32_t a) { return a < actions; }))
    throw std::runtime_error("training state: steps that cannot be");
  first_ = static_cast<std::uint32_t>(first);
  count_ = static_cast<std::uint32_t>(count);
}

}  // namespace gv

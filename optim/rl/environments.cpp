#include "optim/rl/environments.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "optim/check.h"

namespace gv {

Dataset EnvironmentRow::shape_of_data() const {
  Dataset data;
  data.features = static_cast<std::uint32_t>(seen.elements());
  data.classes = actions;
  if (is_picture()) data.image = {seen.channels, seen.height, seen.width};
  return data;
}

const EnvironmentRow* find_environment(const std::string& name) {
  const auto row = std::ranges::find(environments(), name, &EnvironmentRow::name);
  return row == environments().end() ? nullptr : &*row;
}

void Environment::reset(Rng& rng, std::span<float> seen) {
  taken_ = 0;
  begin(state_, rng);
  look(seen);
}

Environment::Step Environment::step(std::uint32_t action, Rng& rng, std::span<float> seen) {
  GV_CHECK(taken_ < limit_, "a step of an episode that continues");
  const Outcome outcome = advance(state_, action, rng);
  ++taken_;
  look(seen);
  return {outcome.reward, outcome.over, !outcome.over && taken_ == limit_};
}

void Environment::save(StateWriter& out) const {
  out.name("environment");
  out.values(state_);
  out.u64(taken_);
}

void Environment::restore(StateReader& in) {
  in.name("environment");
  std::vector<double> state(state_.size());
  in.values(state);
  const std::uint64_t taken = in.u64();
  const bool finite = std::ranges::all_of(state, [](double v) { return std::isfinite(v); });
  if (!finite || !is_state(state) || taken >= limit_)
    throw std::runtime_error("training state: no state of this environment");
  state_ = std::move(state);
  taken_ = static_cast<std::uint32_t>(taken);
}

}  // namespace gv

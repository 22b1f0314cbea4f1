#include "optim/rl/replay_memory.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "optim/check.h"

namespace gv {
namespace {

/// Children of a node: one cache line, which a path through a large tree loads for each level.
constexpr std::size_t children = 8;

std::size_t nodes_above(std::size_t nodes) {
  return (nodes + children - 1) / children;
}

/// Returns the child in which the running sum passes `at`; `at` becomes the remainder there.
std::size_t passed_in(const double* weights, double& at) {
  // Branch-free, because a processor would mispredict every second branch.
  std::size_t chosen = 0;
  double before = 0;
  double sum = 0;
  for (std::size_t k = 0; k < children; ++k) {
    sum += weights[k];
    const bool passed = at >= sum;
    chosen += passed;
    before = passed ? sum : before;
  }
  // If rounding has left `at` too large, take the last child with a nonzero weight.
  if (chosen < children)
    at -= before;
  else
    while (--chosen > 0 && weights[chosen] <= 0) continue;
  return chosen;
}

constexpr double least_error = 1e-3;  ///< keeps all drawable: epsilon of section 3.3
/// Bound that keeps the sum of priorities finite, even if a diverging model has huge errors.
constexpr double most_priority = 1e100;

}  // namespace

SumTree::SumTree(std::size_t places) {
  GV_CHECK(places > 0, "a tree of at least one place");
  std::size_t above = nodes_above(places);
  levels_.emplace_back(above * children);
  while (levels_.back().size() > 1) {
    const bool root = above == 1;
    levels_.emplace_back(root ? 1 : nodes_above(above) * children);
    above = nodes_above(above);
  }
}

void SumTree::set(std::size_t place, double weight) {
  levels_.front()[place] = weight;
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    place /= children;
    const double* below = levels_[level - 1].data() + place * children;
    double sum = 0;
    for (std::size_t k = 0; k < children; ++k) sum += below[k];
    levels_[level][place] = sum;
  }
}

/// Goes level by level for all values together, so that loads from memory overlap.
void SumTree::find(std::span<double> at, std::span<std::uint32_t> places) const {
  std::ranges::fill(places, 0U);
  for (std::size_t level = levels_.size() - 1; level-- > 0;)
    for (std::size_t k = 0; k < at.size(); ++k) {
      const std::size_t first = std::size_t{places[k]} * children;
      const std::size_t child = passed_in(levels_[level].data() + first, at[k]);
      places[k] = static_cast<std::uint32_t>(first + child);
    }
}

Memory::Memory(const MemorySpec& spec) : spec_(spec), priorities_(spec.places) {}

/// Grows as needed: an agent used only for its parameters needs no memory.
void Memory::resize(std::size_t places) {
  if (spec_.binary)
    bytes_.resize(places * 2 * spec_.numbers);
  else
    floats_.resize(places * 2 * spec_.numbers);
  rest_.resize(places);
}

void Memory::keep(std::size_t place, std::span<const float> seen, std::span<const float> next) {
  const std::size_t at = place * 2 * spec_.numbers;
  if (!spec_.binary) {
    std::ranges::copy(seen, floats_.begin() + static_cast<std::ptrdiff_t>(at));
    std::ranges::copy(next, floats_.begin() + static_cast<std::ptrdiff_t>(at + spec_.numbers));
    return;
  }
  for (std::size_t k = 0; k < spec_.numbers; ++k) {
    bytes_[at + k] = seen[k] != 0;
    bytes_[at + spec_.numbers + k] = next[k] != 0;
  }
}

void Memory::recall(std::size_t place, std::span<float> seen, std::span<float> next) const {
  const std::size_t at = place * 2 * spec_.numbers;
  if (spec_.binary) {
    std::copy_n(bytes_.data() + at, spec_.numbers, seen.begin());
    std::copy_n(bytes_.data() + at + spec_.numbers, spec_.numbers, next.begin());
  } else {
    std::copy_n(floats_.data() + at, spec_.numbers, seen.begin());
    std::copy_n(floats_.data() + at + spec_.numbers, spec_.numbers, next.begin());
  }
}

/// Returns the priority of an error; none for a model that has diverged.
std::optional<double> Memory::priority_of(float error) const {
  if (!std::isfinite(error)) return {};
  const double size = std::abs(static_cast<double>(error)) + least_error;
  return std::min(std::pow(size, spec_.priority), most_priority);
}

void Memory::add(const Transition& one, std::optional<float> error) {
  const std::size_t place = newest_;
  if (place == size_) resize(place + 1);
  keep(place, one.seen, one.next);
  rest_[place] = {.reward = one.reward, .future = one.future, .action = one.action};
  const std::optional<double> found = error ? priority_of(*error) : std::nullopt;
  highest_ = std::max(highest_, found.value_or(highest_));
  priorities_.set(place, found.value_or(highest_));
  newest_ = newest_ + 1 == spec_.places ? 0 : newest_ + 1;
  size_ = std::min(size_ + 1, spec_.places);
}

void Memory::draw(std::uint32_t rows, Rng& rng, Drawn& to) const {
  GV_CHECK(size_ > 0, "something to draw");
  const std::size_t numbers = spec_.numbers;
  to.places.resize(rows);
  to.seen.resize(rows * numbers);
  to.next.resize(rows * numbers);
  to.actions.resize(rows);
  to.rewards.resize(rows);
  to.futures.resize(rows);
  const double part = priorities_.total() / rows;
  std::vector<double> at(rows);
  for (std::uint32_t k = 0; k < rows; ++k) at[k] = (k + rng.uniform()) * part;
  priorities_.find(at, to.places);
  for (std::uint32_t k = 0; k < rows; ++k) {
    const std::size_t place = to.places[k];
    recall(place, std::span(to.seen).subspan(k * numbers, numbers),
           std::span(to.next).subspan(k * numbers, numbers));
    to.actions[k] = rest_[place].action;
    to.rewards[k] = rest_[place].reward;
    to.futures[k] = rest_[place].future;
  }
  weigh(to);
}

void Memory::weigh(Drawn& drawn) const {
  drawn.weights.assign(drawn.places.size(), 1.0F);
  if (spec_.priority == 0 || spec_.correction == 0) return;
  // The least likely transition has the largest weight, to which the others are relative.
  double least = priorities_.weight(drawn.places.front());
  for (const std::uint32_t place : drawn.places) least = std::min(least, priorities_.weight(place));
  for (std::size_t k = 0; k < drawn.places.size(); ++k)
    drawn.weights[k] = static_cast<float>(
        std::pow(priorities_.weight(drawn.places[k]) / least, -spec_.correction));
}

void Memory::judge(std::span<const std::uint32_t> places, std::span<const float> errors) {
  if (spec_.priority == 0) return;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::optional<double> priority = priority_of(errors[k]);
    if (!priority) continue;
    highest_ = std::max(highest_, *priority);
    priorities_.set(places[k], *priority);
  }
}

void Memory::save(StateWriter& out) const {
  out.name("memory");
  out.u64(size_);
  out.u64(newest_);
  out.real(highest_);
  out.values(bytes_);
  out.values(floats_);
  out.values(rest_);
  std::vector<double> priorities(size_);
  for (std::size_t k = 0; k < size_; ++k) priorities[k] = priorities_.weight(k);
  out.values(priorities);
}

void Memory::restore(StateReader& in) {
  in.name("memory");
  const std::uint64_t size = in.u64();
  const std::uint64_t newest = in.u64();
  const double highest = in.real();
  const bool full = size == spec_.places;
  const auto valid = [](double p) { return p > 0 && p <= most_priority; };
  if (size > spec_.places || (full ? newest >= size : newest != size) || !valid(highest))
    throw std::runtime_error("training state: a memory of another size");
  size_ = static_cast<std::uint32_t>(size);
  newest_ = static_cast<std::uint32_t>(newest);
  highest_ = highest;
  resize(size_);
  in.values(bytes_);
  in.values(floats_);
  in.values(rest_);
  std::vector<double> priorities(size_);
  in.values(priorities);
  if (!std::ranges::all_of(priorities, valid) || !holds_only_valid())
    throw std::runtime_error("training state: a memory with impossible transitions");
  priorities_ = SumTree(spec_.places);
  for (std::size_t k = 0; k < size_; ++k) priorities_.set(k, priorities[k]);
}

bool Memory::holds_only_valid() const {
  const auto valid = [&](const Rest& r) {
    return std::isfinite(r.reward) && r.future >= 0 && r.future <= 1 && r.action < spec_.actions;
  };
  return std::ranges::all_of(floats_, [](float v) { return std::isfinite(v); }) &&
         std::ranges::all_of(bytes_, [](std::uint8_t b) { return b <= 1; }) &&
         std::ranges::all_of(rest_, valid);
}

}  // namespace gv

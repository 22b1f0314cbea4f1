#include "peer/sim/safe.h"

#include <utility>

#include <fmt/format.h>

namespace gv {
namespace {

/// A save is fewer operations on the disk than this.
constexpr std::uint64_t operations = 8;

}  // namespace

Safe::Saved Safe::save(Step step, std::vector<std::byte> state, Dice& dice) {
  const bool torn = std::exchange(torn_, false);
  if (torn) disk_.lose_power_after(dice.below(operations));
  const bool full = full_for_ > 0;
  if (full) {
    --full_for_;
    disk_.set_capacity(disk_.used_bytes() + dice.below(state.size() + 100));
  }
  const bool saved = store_.save(step, std::move(state)).empty();
  if (full) disk_.set_capacity(SimDisk::unlimited);
  if (saved) acknowledged_ = step;
  if (torn) return Saved::torn;
  return saved ? Saved::yes : Saved::no;
}

void Safe::lose_power(Dice& dice) {
  disk_.crash(dice.below(1U << 30));
}

std::optional<Checkpoint> Safe::load(std::vector<std::string>& violations) {
  std::vector<std::string> skipped;
  std::optional<Checkpoint> past = store_.newest(skipped);
  if (acknowledged_ && (!past || past->step < *acknowledged_))
    violations.push_back(fmt::format("a checkpoint of round {} was acknowledged, and {} is loaded",
                                     *acknowledged_,
                                     past ? fmt::format("that of {}", past->step) : "none"));
  return past;
}

}  // namespace gv

#include "peer/sim/sim_checkpoint_store.h"

#include <utility>

#include <fmt/format.h>

namespace gv {
namespace {

/// A save is fewer operations on the disk than this.
constexpr std::uint64_t operations = 8;

}  // namespace

SimCheckpointStore::Saved SimCheckpointStore::save(Round round,
                                                   std::vector<std::byte> state,
                                                   FaultInjector& injector) {
  const bool torn = std::exchange(torn_, false);
  if (torn) disk_.lose_power_after(injector.below(operations));
  const bool full = full_for_ > 0;
  if (full) {
    --full_for_;
    disk_.set_capacity(disk_.used_bytes() + injector.below(state.size() + 100));
  }
  const bool saved = store_.save(round, std::move(state)).empty();
  if (full) disk_.set_capacity(SimDisk::unlimited);
  if (saved) acknowledged_ = round;
  if (torn) return Saved::torn;
  return saved ? Saved::yes : Saved::no;
}

void SimCheckpointStore::lose_power(FaultInjector& injector) {
  disk_.crash(injector.below(1U << 30));
}

std::optional<Checkpoint> SimCheckpointStore::load(std::vector<std::string>& violations) {
  std::vector<std::string> skipped;
  std::optional<Checkpoint> past = store_.newest(skipped);
  if (acknowledged_ && (!past || past->round < *acknowledged_))
    violations.push_back(fmt::format("a checkpoint of round {} was acknowledged, and {} is loaded",
                                     *acknowledged_,
                                     past ? fmt::format("that of {}", past->round) : "none"));
  return past;
}

}  // namespace gv

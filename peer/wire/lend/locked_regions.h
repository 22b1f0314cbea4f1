#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "optim/page_lock.h"
#include "peer/wire/lend/region.h"

namespace gv {

/// The regions that are locked for our device: ours, to which it copies what we lend, and those of
/// neighbours, from which it copies what they lend. On the peer's loop.
/// Invariant: a region is locked behind the copies that were asked for before, and unlocked when
/// nobody here holds anything in it and before it is mapped no more.
class LockedRegions {
 public:
  /// Does a job in the lane in which the device's copies are asked for, behind those before it.
  using Lane = std::function<void(std::function<void()> job)>;
  LockedRegions(std::shared_ptr<PageLock> pages, Region ours, Lane lane);
  /// The lane has ended; what it has not unlocked is unlocked now.
  ~LockedRegions();
  LockedRegions(const LockedRegions&) = delete;
  LockedRegions& operator=(const LockedRegions&) = delete;

  /// Locks our own, in the calling thread, before the loop runs; false: the driver refuses.
  bool lock_ours();
  /// Locks a neighbour's in a job. One that is larger than ours is not believed: what is locked is
  /// taken from the whole machine.
  void lock(const Region& theirs);
  /// Unlocks, in jobs, those that nobody else here holds any more.
  void unlock_unused();

 private:
  /// A neighbour's region; the jobs of its lock hold it too.
  struct Theirs {
    explicit Theirs(Region region_) : region(std::move(region_)) {}
    Region region;
    bool ends = false;                   ///< its unlocking was asked for
    std::atomic<bool> unlocked = false;  ///< it was done
  };
  std::shared_ptr<PageLock> pages_;
  Region ours_;
  Lane lane_;
  std::vector<std::shared_ptr<Theirs>> theirs_;
};

}  // namespace gv

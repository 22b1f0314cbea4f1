#include <algorithm>
#include <deque>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "peer/wire/lend/region.h"

namespace gv {
namespace {

constexpr RegionShape usual{8, 2, 1 << 16};

/// A device that copies from regions by jobs in a lane, and checks that each copy is permitted.
class Device : public PageLock {
 public:
  bool lock(std::span<const std::byte> pages, bool only_read) override {
    if (refuses) return false;
    if (locked.contains(pages.data())) ++findings;
    locked[pages.data()] = only_read;
    return true;
  }
  void unlock(const std::byte* pages) noexcept override {
    locked.erase(pages);
    if (copies_under_way(pages)) ++findings;
  }

  void take(std::function<void()> job) { jobs_.push_back({nullptr, std::move(job)}); }
  /// Copies from a neighbour's loan later, and holds the loan until then.
  void copy_from(const Region& region) {
    const std::byte* const pages = region.memory + region.shape.blocks_begin();
    const auto copy = [this, pages, keep = region.keep] {
      if (!locked.contains(pages)) ++findings;
    };
    const bool too_early = locks_late && !jobs_.empty();
    jobs_.insert(jobs_.end() - (too_early ? 1 : 0), {pages, copy});
  }
  void work(std::size_t count) {
    for (; count > 0 && !jobs_.empty(); --count) {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      job.second();
    }
  }

  bool refuses = false;
  bool locks_late = false;  ///< a planted bug: copies go before a job
  std::map<const std::byte*, bool> locked;
  int findings = 0;

 private:
  using Job = std::pair<const std::byte*, std::function<void()>>;  ///< the source of a copy
  bool copies_under_way(const std::byte* pages) const {
    return std::ranges::any_of(jobs_, [&](const Job& job) { return job.first == pages; });
  }

  std::deque<Job> jobs_;
};

enum class Mistake : std::uint8_t { none, locks_late, unlocks_early };

/// Returns a neighbour's memory, which counts its unmapping.
Region region_of(const RegionShape& shape, int& unmapped) {
  Region region = private_region(shape);
  region.keep = std::shared_ptr<const void>(
      region.memory, [&unmapped, keep = region.keep](const void*) { ++unmapped; });
  return region;
}

const std::byte* blocks_of(const Region& region) {
  return region.memory + region.shape.blocks_begin();
}

LockedRegions locked_by(const std::shared_ptr<Device>& device, const Region& ours) {
  return {device, ours, [device](std::function<void()> job) { device->take(std::move(job)); }};
}

TEST(LockedRegions, LocksOursToBeWrittenAndTheirsToBeRead) {
  const auto device = std::make_shared<Device>();
  const Region ours = private_region(usual);
  const Region theirs = private_region(usual);
  {
    LockedRegions regions = locked_by(device, ours);
    EXPECT_TRUE(regions.lock_ours());
    EXPECT_EQ(device->locked, (std::map<const std::byte*, bool>{{blocks_of(ours), false}}));
    regions.lock(theirs);
    EXPECT_EQ(device->locked.size(), 1U) << "not by the loop itself";
    device->work(1);
    EXPECT_TRUE(device->locked.at(blocks_of(theirs)));
  }
  EXPECT_TRUE(device->locked.empty());
}

TEST(LockedRegions, ARegionLargerThanOursIsNotLocked) {
  const auto device = std::make_shared<Device>();
  LockedRegions regions = locked_by(device, private_region(usual));
  RegionShape larger = usual;
  larger.bytes += 4096;
  regions.lock(private_region(larger));
  RegionShape more_rows = usual;
  more_rows.rows = 1000;
  regions.lock(private_region(more_rows));
  device->work(9);
  EXPECT_EQ(device->locked.size(), 1U) << "of the words that come first nothing is locked";
}

TEST(LockedRegions, SaysWhereOursIsRefused) {
  const auto device = std::make_shared<Device>();
  device->refuses = true;
  LockedRegions regions = locked_by(device, private_region(usual));
  EXPECT_FALSE(regions.lock_ours());
}

/// Neighbours come, lend and end in random order, and the device's lane lags by a random number of
/// jobs.
int findings_of_a_drawn_life(std::uint64_t seed, Mistake mistake) {
  Rng rng(seed);
  int unmapped = 0;
  int come = 0;
  const auto device = std::make_shared<Device>();
  device->locks_late = mistake == Mistake::locks_late;
  {
    LockedRegions regions = locked_by(device, private_region(usual));
    EXPECT_TRUE(regions.lock_ours());
    std::vector<Region> here;
    for (int step = 0; step < 200; ++step) {
      const auto one = [&] { return rng.below(here.size()); };
      const std::uint64_t what = rng.below(6);
      if (what == 0 && here.size() < 4) {
        here.push_back(region_of(usual, unmapped));
        regions.lock(here.back());
        ++come;
      } else if (what == 1 && !here.empty()) {
        const auto gone = here.begin() + static_cast<std::ptrdiff_t>(one());
        if (mistake == Mistake::unlocks_early) device->unlock(blocks_of(*gone));
        here.erase(gone);
      } else if (what == 2) {
        regions.unlock_unused();
      } else if (what < 5 && !here.empty()) {
        device->copy_from(here[one()]);
      } else {
        device->work(rng.below(4));
      }
    }
    here.clear();
    device->work(1000);
    regions.unlock_unused();
    device->work(1000);
    regions.unlock_unused();
    EXPECT_LE(device->locked.size(), 1U) << "of nobody who ended anything is locked";
    EXPECT_EQ(unmapped, come) << "nor mapped";
  }
  EXPECT_TRUE(device->locked.empty());
  return device->findings;
}

TEST(LockedRegions, ALockStandsBeforeEachCopyAndEndsBehindTheLast) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    ASSERT_EQ(findings_of_a_drawn_life(seed, Mistake::none), 0) << "seed " << seed;
}

TEST(LockedRegions, ThoseChecksFindALockThatComesLateOrEndsEarly) {
  for (const Mistake mistake : {Mistake::locks_late, Mistake::unlocks_early}) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      found += findings_of_a_drawn_life(seed, mistake);
    EXPECT_GT(found, 0);
  }
}

}  // namespace
}  // namespace gv

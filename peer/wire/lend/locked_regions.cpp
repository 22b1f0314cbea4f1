#include "peer/wire/lend/locked_regions.h"

#include <span>
#include <utility>

namespace gv {
namespace {

std::span<const std::byte> blocks_of(const Region& region) {
  return {region.memory + region.shape.blocks_begin(), region.shape.bytes};
}

void unlock(PageLock& pages, const Region& region) noexcept {
  pages.unlock(blocks_of(region).data());
}

}  // namespace

LockedRegions::LockedRegions(std::shared_ptr<PageLock> pages, Region ours, Lane lane)
    : pages_(std::move(pages)), ours_(std::move(ours)), lane_(std::move(lane)) {}

LockedRegions::~LockedRegions() {
  for (const auto& each : theirs_)
    if (!each->unlocked) unlock(*pages_, each->region);
  unlock(*pages_, ours_);
}

bool LockedRegions::lock_ours() {
  return pages_->lock(blocks_of(ours_), false);
}

void LockedRegions::lock(const Region& theirs) {
  if (theirs.shape.bytes > ours_.shape.bytes) return;
  theirs_.push_back(std::make_shared<Theirs>(theirs));
  lane_([pages = pages_, each = theirs_.back()] { pages->lock(blocks_of(each->region), true); });
}

void LockedRegions::unlock_unused() {
  std::erase_if(theirs_, [](const auto& each) { return each->unlocked.load(); });
  for (const auto& each : theirs_) {
    if (each->ends || each->region.keep.use_count() > 1) continue;
    each->ends = true;
    lane_([pages = pages_, each] {
      unlock(*pages, each->region);
      each->unlocked = true;
    });
  }
}

}  // namespace gv

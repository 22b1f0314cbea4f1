#pragma once

#include <cstddef>
#include <span>

namespace gv {

/// Locks pages that another owner allocated, so that a device copies directly to and from them,
/// without a copy by the driver. A device's own BufferMemory does this itself. A call takes the
/// driver's time for its number of pages: do not call from a network loop.
class PageLock {
 public:
  virtual ~PageLock() = default;
  /// Locks whole pages until unlock(); `only_read` if they are mapped so. Returns false if the
  /// driver refuses, which is logged once; the pages are then copied like ordinary memory.
  virtual bool lock(std::span<const std::byte> pages, bool only_read) = 0;
  /// Unlocks the pages; no copy to or from them may be running. Ignores pages that are not locked.
  virtual void unlock(const std::byte* pages) noexcept = 0;
};

}  // namespace gv

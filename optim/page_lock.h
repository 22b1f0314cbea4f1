#pragma once

#include <cstddef>
#include <span>

namespace gv {

/// Locks pages that somebody else allocated, so that a device copies to them and from them where
/// they lie, without a copy of the driver's. A device's own BufferMemory does it. Calls take as
/// long as the driver does with so many pages: none comes from a network loop.
class PageLock {
 public:
  virtual ~PageLock() = default;
  /// Locks whole pages until unlock(); `only_read`: they are mapped so. False: the device's driver
  /// refuses, which is said once; they are copied as ordinary memory is.
  virtual bool lock(std::span<const std::byte> pages, bool only_read) = 0;
  /// No copy to these pages or from them may be under way. Those that are not locked stay as they
  /// are.
  virtual void unlock(const std::byte* pages) noexcept = 0;
};

}  // namespace gv

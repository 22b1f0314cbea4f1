#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "optim/error_text.h"
#include "optim/machine/page_lock.h"
#include "peer/wire/socket/descriptor.h"

namespace gv {

/// Size of a region's parts. Processes share memory only if they have equally many blocks.
struct RegionShape {
  std::uint32_t blocks = 0;  ///< maximum number of blocks
  std::uint32_t rows = 0;    ///< number of rows, one for each neighbour
  std::uint64_t bytes = 0;   ///< size of all blocks together

  std::uint64_t blocks_begin() const;  ///< offset of the first block, after the words
  std::uint64_t size() const { return blocks_begin() + bytes; }
  bool sane() const;  ///< returns whether a process may map this size
};

/// Returns the shape for a peer with `neighbors` neighbours: eight models of `model_bytes` fit.
/// Payloads that do not fit are sent as bytes.
RegionShape region_shape(std::uint64_t model_bytes, std::size_t neighbors);

/// Memory that one process writes and its neighbours on the same machine read:
///   generations u64[blocks]        use of the block to which its content belongs
///   given back  u64[rows][blocks]  row r: the use up to which the owner has given back each block
///                                  of its r-th neighbour
///   the blocks themselves
/// Each word has one writer, the region's owner, so no lock is needed and a process that dies
/// leaves none locked.
struct Region {
  RegionShape shape;
  std::byte* memory = nullptr;       ///< read-only if it is a neighbour's
  std::shared_ptr<const void> keep;  ///< owner of the mapping

  std::atomic_ref<std::uint64_t> generation(std::uint32_t block) const;
  std::atomic_ref<std::uint64_t> given_back(std::uint32_t row, std::uint32_t block) const;
};

/// Returns a region that no other process can see, for simulated processes.
Region private_region(const RegionShape& shape);

/// Regions whose pages are locked for this peer's device: ours, to which the device copies lent
/// payloads, and those of neighbours, from which it copies theirs. Used on the peer's loop.
/// Invariant: a region is locked after the copies requested before it, and unlocked once no payload
/// in it is held here, before it is unmapped.
class LockedRegions {
 public:
  /// Runs a job in the lane of the device's copies, after earlier jobs.
  using Lane = std::function<void(std::function<void()> job)>;
  LockedRegions(std::shared_ptr<PageLock> pages, Region ours, Lane lane);
  /// Unlocks the regions that are still locked, after the lane has ended.
  ~LockedRegions();
  LockedRegions(const LockedRegions&) = delete;
  LockedRegions& operator=(const LockedRegions&) = delete;

  /// Locks our own region in the calling thread, before the loop runs. Returns false if the driver
  /// refuses.
  bool lock_ours();
  /// Locks a neighbour's region in a job. Ignores one larger than ours, because locked memory is
  /// taken from the whole machine.
  void lock(const Region& theirs);
  /// Unlocks, in jobs, neighbours' regions that are no longer used here.
  void unlock_unused();

 private:
  /// A neighbour's region, also held by its locking jobs.
  struct Theirs {
    explicit Theirs(Region region_) : region(std::move(region_)) {}
    Region region;
    bool ends = false;                   ///< unlocking was requested
    std::atomic<bool> unlocked = false;  ///< unlocking is done
  };
  std::shared_ptr<PageLock> pages_;
  Region ours_;
  Lane lane_;
  std::vector<std::shared_ptr<Theirs>> theirs_;
};

/// A region in anonymous memory, which the kernel frees with the last process that maps it, however
/// that ends. Seals fix its size, on which neighbours rely, and allow writes by its maker only.
class MemoryFile {
 public:
  /// Makes a region, or returns null if the system has no such memory.
  static std::shared_ptr<MemoryFile> make(const RegionShape& shape);

  const Region& region() const { return region_; }
  int descriptor() const { return file_.get(); }
  /// Allocates `bytes` of memory from `offset` on, so that later writes cannot fail. Returns false
  /// if there is not enough.
  bool reserve(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  MemoryFile(Descriptor file, Region region) : file_(std::move(file)), region_(std::move(region)) {}
  Descriptor file_;
  Region region_;
};

/// Maps a neighbour's region read-only. Returns an error if the file does not have this shape.
Verdict map_region(const Descriptor& file, const RegionShape& shape, Region& out);

}  // namespace gv

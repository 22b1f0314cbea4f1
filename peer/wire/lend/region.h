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
#include "optim/page_lock.h"
#include "peer/wire/lend/descriptor.h"

namespace gv {

/// The size of a region's parts. Processes share memory only where their blocks are as many.
struct RegionShape {
  std::uint32_t blocks = 0;  ///< at most
  std::uint32_t rows = 0;    ///< one for each neighbour
  std::uint64_t bytes = 0;   ///< of all blocks together

  std::uint64_t blocks_begin() const;  ///< after the words
  std::uint64_t size() const { return blocks_begin() + bytes; }
  bool sane() const;  ///< of a size that a process may map for a neighbour
};

/// Returns the shape for a peer with so many neighbours that sends models of so many bytes: there
/// is room for eight of them. What does not fit travels as bytes.
RegionShape region_shape(std::uint64_t model_bytes, std::size_t neighbors);

/// Memory that one process writes and its neighbours on the same machine read:
///   generations u64[blocks]        which use of the block its content belongs to
///   given back  u64[rows][blocks]  row r: the use up to which the owner has given back each block
///                                  of its r-th neighbour
///   the blocks themselves
/// Each word has one writer, the region's owner, so no lock is needed and a process that dies
/// leaves none behind.
struct Region {
  RegionShape shape;
  std::byte* memory = nullptr;       ///< of a neighbour's: only to be read
  std::shared_ptr<const void> keep;  ///< as long as this lives, the memory stays

  std::atomic_ref<std::uint64_t> generation(std::uint32_t block) const;
  std::atomic_ref<std::uint64_t> given_back(std::uint32_t row, std::uint32_t block) const;
};

/// A region that nobody else can see: for processes that are simulated.
Region private_region(const RegionShape& shape);

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

/// A region in memory without a name: the kernel frees it with the last process that has mapped it,
/// whatever they die of. It is sealed, so that it keeps its size, which a neighbour can rely on,
/// and nobody but its maker can write it.
class MemoryFile {
 public:
  /// Makes a region; null: this system has no such memory.
  static std::shared_ptr<MemoryFile> make(const RegionShape& shape);

  const Region& region() const { return region_; }
  int descriptor() const { return file_.get(); }
  /// Gets the memory of so many bytes from an offset on, so that no later write finds that there is
  /// none; false: there is none.
  bool reserve(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  MemoryFile(Descriptor file, Region region) : file_(std::move(file)), region_(std::move(region)) {}
  Descriptor file_;
  Region region_;
};

/// Maps a neighbour's region to be read; an error where the file is not what it is said to be.
Verdict map_region(const Descriptor& file, const RegionShape& shape, Region& out);

}  // namespace gv

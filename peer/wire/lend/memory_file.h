#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "optim/error_text.h"
#include "peer/wire/lend/descriptor.h"
#include "peer/wire/lend/region.h"

namespace gv {

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

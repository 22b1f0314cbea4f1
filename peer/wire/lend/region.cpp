#include "peer/wire/lend/region.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace gv {
namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

std::atomic_ref<std::uint64_t> word(std::byte* memory, std::uint64_t index) {
  return std::atomic_ref(reinterpret_cast<std::uint64_t*>(memory)[index]);
}

std::span<const std::byte> blocks_of(const Region& region) {
  return {region.memory + region.shape.blocks_begin(), region.shape.bytes};
}

void unlock(PageLock& pages, const Region& region) noexcept {
  pages.unlock(blocks_of(region).data());
}

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;

/// Maps a file; `memory` is null on failure.
Region map(int file, const RegionShape& shape, int protection) {
  const std::uint64_t size = shape.size();
  void* const memory = ::mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) return {};
  ::madvise(memory, size, MADV_HUGEPAGE);  // used if supported for shared memory
  const std::shared_ptr<const void> keep(memory, [size](void* m) { ::munmap(m, size); });
  return {shape, static_cast<std::byte*>(memory), keep};
}

}  // namespace

std::uint64_t RegionShape::blocks_begin() const {
  return round_up(sizeof(std::uint64_t) * blocks * (1 + static_cast<std::uint64_t>(rows)), page);
}

bool RegionShape::sane() const {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 42;
  return blocks > 0 && blocks <= 1U << 16 && rows > 0 && rows <= 1U << 16 && bytes > 0 &&
         bytes <= most_bytes;
}

RegionShape region_shape(std::uint64_t model_bytes, std::size_t neighbors) {
  constexpr std::uint64_t piece = 1U << 19;
  constexpr std::uint64_t models = 8;
  constexpr std::uint64_t most_blocks = 1U << 16;
  const std::uint64_t pieces = model_bytes / piece + 1;
  const std::uint64_t blocks = std::min(models * pieces + 256, most_blocks);
  return {.blocks = static_cast<std::uint32_t>(blocks),
          .rows = static_cast<std::uint32_t>(std::max<std::size_t>(neighbors, 1)),
          .bytes = round_up(models * model_bytes + 64 * blocks, page)};
}

std::atomic_ref<std::uint64_t> Region::generation(std::uint32_t block) const {
  return word(memory, block);
}

std::atomic_ref<std::uint64_t> Region::given_back(std::uint32_t row, std::uint32_t block) const {
  return word(memory, (1 + static_cast<std::uint64_t>(row)) * shape.blocks + block);
}

Region private_region(const RegionShape& shape) {
  const std::uint64_t size = shape.size();
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  const std::shared_ptr<const void> keep(memory, [size](void* m) { ::munmap(m, size); });
  return {shape, static_cast<std::byte*>(memory), keep};
}

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

std::shared_ptr<MemoryFile> MemoryFile::make(const RegionShape& shape) {
  Descriptor file(::memfd_create("grapevine", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.open()) return nullptr;
  if (::ftruncate(file.get(), static_cast<off_t>(shape.size())) != 0) return nullptr;
  Region region = map(file.get(), shape, PROT_READ | PROT_WRITE);
  if (region.memory == nullptr) return nullptr;
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);  // since Linux 5.1
  if (::fcntl(file.get(), F_ADD_SEALS, size_seals | F_SEAL_SEAL) != 0) return nullptr;
  const auto made = new MemoryFile(std::move(file), std::move(region));
  std::shared_ptr<MemoryFile> shared(made);
  if (!shared->reserve(0, shape.blocks_begin())) return nullptr;
  return shared;
}

bool MemoryFile::reserve(std::uint64_t offset, std::uint64_t bytes) const {
  return ::fallocate(file_.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

Verdict map_region(const Descriptor& file, const RegionShape& shape, Region& out) {
  if (!shape.sane()) return "a region of no sane size";
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return std::strerror(errno);
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & size_seals) != size_seals)
    return "a file whose size its maker can change";
  if (status.st_size != static_cast<off_t>(shape.size()))
    return fmt::format("a file of {} bytes, not {}", status.st_size, shape.size());
  out = map(file.get(), shape, PROT_READ);
  return out.memory != nullptr ? "" : "its memory cannot be mapped";
}

}  // namespace gv

#include "peer/wire/lend/memory_file.h"

#include <cerrno>
#include <cstring>

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

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;

/// Null memory: it cannot be mapped.
Region map(int file, const RegionShape& shape, int protection) {
  const std::uint64_t size = shape.size();
  void* const memory = ::mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) return {};
  ::madvise(memory, size, MADV_HUGEPAGE);  // where the system has them for shared memory
  const std::shared_ptr<const void> keep(memory, [size](void* m) { ::munmap(m, size); });
  return {shape, static_cast<std::byte*>(memory), keep};
}

}  // namespace

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

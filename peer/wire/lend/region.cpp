#include "peer/wire/lend/region.h"

#include <algorithm>
#include <new>

#include <sys/mman.h>

namespace gv {
namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

std::atomic_ref<std::uint64_t> word(std::byte* memory, std::uint64_t index) {
  return std::atomic_ref(reinterpret_cast<std::uint64_t*>(memory)[index]);
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

}  // namespace gv

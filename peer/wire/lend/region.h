#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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

}  // namespace gv

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "optim/buffer.h"
#include "peer/wire/lend/loan.h"
#include "peer/wire/lend/region.h"

namespace gv {

/// The blocks of our own region, as the memory of the payloads that we send. On the peer's loop.
/// Invariant: a block is not written while a neighbour that was lent it may still read it: until
/// the neighbour's region says that this use of it was given back, or its process has ended.
class Lender : public BufferMemory {
 public:
  /// Payloads under `smallest` bytes are not lent: to send them costs less. `reserve`: gets the
  /// memory of so many bytes from an offset on; false: there is none. Empty: it is there.
  /// `beside`: where the others lie; null: in ordinary memory.
  Lender(Region region,
         std::size_t smallest,
         std::function<bool(std::uint64_t offset, std::uint64_t bytes)> reserve = {},
         std::shared_ptr<BufferMemory> beside = nullptr);

  /// Allocates in the region while it has room, else beside it.
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* block) noexcept override;
  bool lent(const std::byte* block) const override;
  void renew(std::byte* block) override;

  const Region& region() const { return region_; }
  /// The neighbour of this row has mapped our region, and says in `their_row` of its own what it
  /// has given back.
  void open(std::uint32_t row, Region theirs, std::uint32_t their_row);
  /// Its process has ended.
  void close(std::uint32_t row);
  /// Lends a payload to the neighbour of `row`; nothing: it is to travel as bytes.
  std::optional<Loan> lend(const Buffer& payload, std::uint32_t row);

 protected:
  /// Returns whether the neighbour of `row` has given back this use of the block.
  virtual bool given_back(std::uint32_t row, std::uint32_t block, std::uint64_t generation) const;

 private:
  struct Block {
    std::uint64_t offset;
    std::uint64_t capacity;
    std::uint64_t generation = 0;
    std::vector<std::uint64_t> lent{};  ///< by row: the last generation; 0: never
  };
  struct Borrowing {
    Region region;
    std::uint32_t row;  ///< of ours in it
  };
  bool ours(const std::byte* block) const;
  std::uint32_t index_of(const std::byte* block) const;
  std::optional<std::uint32_t> free_block(std::uint64_t capacity);
  std::optional<std::uint32_t> new_block(std::uint64_t capacity);
  bool is_lent(std::uint32_t block) const;

  Region region_;
  std::size_t smallest_;
  std::function<bool(std::uint64_t, std::uint64_t)> reserve_;
  std::shared_ptr<BufferMemory> beside_;
  std::vector<Block> blocks_;                                 ///< ascending in their offsets
  std::uint64_t used_;                                        ///< up to this offset
  std::map<std::uint64_t, std::vector<std::uint32_t>> free_;  ///< by capacity
  std::vector<std::optional<Borrowing>> rows_;
};

}  // namespace gv

#include "peer/wire/lend/lender.h"

#include <algorithm>
#include <new>
#include <utility>

#include "optim/check.h"

namespace gv {
namespace {

constexpr std::align_val_t alignment{64};

std::uint64_t aligned(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

Lender::Lender(Region region,
               std::size_t smallest,
               std::function<bool(std::uint64_t, std::uint64_t)> reserve,
               std::shared_ptr<BufferMemory> beside)
    : region_(std::move(region)),
      smallest_(smallest),
      reserve_(std::move(reserve)),
      beside_(std::move(beside)),
      used_(region_.shape.blocks_begin()),
      rows_(region_.shape.rows) {}

// ---- Memory.

std::byte* Lender::allocate(std::size_t bytes) {
  std::optional<std::uint32_t> block;
  if (bytes >= smallest_) block = free_block(aligned(bytes));
  if (bytes >= smallest_ && !block) block = new_block(aligned(bytes));
  if (block) return region_.memory + blocks_[*block].offset;
  if (beside_) return beside_->allocate(bytes);
  return static_cast<std::byte*>(::operator new(bytes, alignment));
}

std::optional<std::uint32_t> Lender::free_block(std::uint64_t capacity) {
  const auto fitting = free_.find(capacity);
  if (fitting == free_.end()) return {};
  std::vector<std::uint32_t>& blocks = fitting->second;
  const auto at = std::ranges::find_if(blocks, [this](std::uint32_t b) { return !is_lent(b); });
  if (at == blocks.end()) return {};
  const std::uint32_t block = *at;
  blocks.erase(at);
  return block;
}

std::optional<std::uint32_t> Lender::new_block(std::uint64_t capacity) {
  if (blocks_.size() == region_.shape.blocks || capacity > region_.shape.size() - used_) return {};
  if (reserve_ && !reserve_(used_, capacity)) return {};
  blocks_.push_back({used_, capacity, 0, std::vector<std::uint64_t>(rows_.size())});
  used_ += capacity;
  return static_cast<std::uint32_t>(blocks_.size() - 1);
}

void Lender::release(std::byte* block) noexcept {
  if (!ours(block)) return beside_ ? beside_->release(block) : ::operator delete(block, alignment);
  const std::uint32_t index = index_of(block);
  free_[blocks_[index].capacity].push_back(index);
}

bool Lender::lent(const std::byte* block) const {
  return ours(block) && is_lent(index_of(block));
}

void Lender::renew(std::byte* block) {
  if (!ours(block)) return;
  const std::uint32_t index = index_of(block);
  region_.generation(index).store(++blocks_[index].generation, std::memory_order_release);
}

bool Lender::ours(const std::byte* block) const {
  return block >= region_.memory && block < region_.memory + region_.shape.size();
}

std::uint32_t Lender::index_of(const std::byte* block) const {
  const auto offset = static_cast<std::uint64_t>(block - region_.memory);
  const auto at = std::ranges::upper_bound(blocks_, offset, {}, &Block::offset);
  GV_CHECK(at != blocks_.begin(), "a block of this region");
  return static_cast<std::uint32_t>(at - blocks_.begin() - 1);
}

// ---- Loans.

void Lender::open(std::uint32_t row, Region theirs, std::uint32_t their_row) {
  close(row);
  rows_.at(row) = Borrowing{std::move(theirs), their_row};
}

void Lender::close(std::uint32_t row) {
  rows_.at(row).reset();
  for (Block& block : blocks_) block.lent[row] = 0;
}

std::optional<Loan> Lender::lend(const Buffer& payload, std::uint32_t row) {
  if (!rows_.at(row) || payload.size() < smallest_ || !ours(payload.data())) return {};
  const std::uint32_t index = index_of(payload.data());
  Block& block = blocks_[index];
  block.lent[row] = block.generation;
  return Loan{index, block.offset, payload.size(), block.generation};
}

bool Lender::is_lent(std::uint32_t block) const {
  const std::vector<std::uint64_t>& lent = blocks_[block].lent;
  for (std::uint32_t row = 0; row < lent.size(); ++row)
    if (lent[row] != 0 && !given_back(row, block, lent[row])) return true;
  return false;
}

bool Lender::given_back(std::uint32_t row, std::uint32_t block, std::uint64_t generation) const {
  const Borrowing& borrowing = *rows_[row];
  const auto word = borrowing.region.given_back(borrowing.row, block);
  return word.load(std::memory_order_acquire) >= generation;
}

}  // namespace gv

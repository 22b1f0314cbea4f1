#include "peer/wire/lend/sharing.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "optim/check.h"

namespace gv {
namespace {

constexpr std::align_val_t alignment{64};

std::uint64_t aligned(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

}  // namespace

/// Gives the block back when the last holder releases the payload.
class Borrower::Held : public BufferMemory {
 public:
  Held(std::shared_ptr<Borrower> borrower, std::uint32_t block, std::uint64_t generation)
      : borrower_(std::move(borrower)), block_(block), generation_(generation) {}
  std::byte* allocate(std::size_t) override { return nullptr; }
  void release(std::byte*) noexcept override { borrower_->give_back(block_, generation_); }

 private:
  std::shared_ptr<Borrower> borrower_;
  std::uint32_t block_;
  std::uint64_t generation_;
};

Borrower::Borrower(Region theirs, Region ours, std::uint32_t row)
    : theirs_(std::move(theirs)), ours_(std::move(ours)), row_(row), held_(theirs_.shape.blocks) {}

Verdict Borrower::borrow(const Loan& loan, std::uint64_t most_bytes, Payload& out) {
  if (loan.bytes > most_bytes)
    return fmt::format("a loan of {} bytes, at most {}", loan.bytes, most_bytes);
  if (Verdict wrong = judge_place(loan); !wrong.empty()) return wrong;
  if (Verdict wrong = judge_use(loan); !wrong.empty()) return wrong;
  Use& use = held_[loan.block];
  std::byte* const at = theirs_.memory + loan.offset;
  if (Payload before = use.payload.lock()) {
    if (use.generation != loan.generation)
      return fmt::format("block {} is lent again before it was given back", loan.block);
    if (before->data() != at || before->size() != loan.bytes)
      return fmt::format("block {} is lent twice in different ways", loan.block);
    out = std::move(before);  // the message was sent again over another connection
    return "";
  }
  hold(loan);
  auto held = std::make_shared<Held>(shared_from_this(), loan.block, loan.generation);
  out = std::make_shared<const Buffer>(std::move(held), at, loan.bytes);
  use = {loan.generation, out};
  return "";
}

Verdict Borrower::judge_place(const Loan& loan) const {
  const RegionShape& shape = theirs_.shape;
  if (loan.block >= shape.blocks)
    return fmt::format("a loan of block {}, of only {} blocks", loan.block, shape.blocks);
  if (loan.bytes == 0 || loan.offset % 64 != 0 || loan.offset < shape.blocks_begin() ||
      loan.offset > shape.size() || loan.bytes > shape.size() - loan.offset)
    return fmt::format("a loan of {} bytes at {}, outside of the blocks", loan.bytes, loan.offset);
  return "";
}

Verdict Borrower::judge_use(const Loan& loan) const {
  const std::uint64_t there = theirs_.generation(loan.block).load(std::memory_order_acquire);
  if (loan.generation == 0 || there != loan.generation)
    return fmt::format("a loan of block {} in its use number {}, and the block is in use number {}",
                       loan.block, loan.generation, there);
  return "";
}

void Borrower::give_back(std::uint32_t block, std::uint64_t generation) noexcept {
  if (retired_) return;
  ours_.given_back(row_, block).store(generation, std::memory_order_release);
}

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

Sharing::Sharing(Options options) : options_(std::move(options)) {
  const auto& [lender, borrower] = options_.parts;
  lender_ = lender ? lender(options_.region, options_.smallest)
                   : std::make_shared<Lender>(options_.region, options_.smallest, options_.reserve,
                                              options_.beside);
}

std::uint32_t Sharing::row_of(PeerId neighbor) const {
  const auto at = std::ranges::lower_bound(options_.neighbors, neighbor);
  return static_cast<std::uint32_t>(at - options_.neighbors.begin());
}

bool Sharing::met(PeerId neighbor, std::uint64_t incarnation) {
  if (edges_[neighbor].incarnation != incarnation) shut(neighbor);
  Edge& edge = edges_[neighbor];
  edge.incarnation = incarnation;
  return edge.borrower == nullptr;
}

bool Sharing::fits(PeerId neighbor,
                   std::uint64_t incarnation,
                   const RegionShape& shape,
                   std::uint32_t row) const {
  const auto at = edges_.find(neighbor);
  return at != edges_.end() && at->second.incarnation == incarnation && !at->second.borrower &&
         shape.sane() && shape.blocks == options_.region.shape.blocks && row < shape.rows;
}

void Sharing::take(PeerId neighbor, Region theirs, std::uint32_t row) {
  Edge& edge = edges_.at(neighbor);
  const std::uint32_t its_row = row_of(neighbor);
  const auto& make = options_.parts.borrower;
  edge.borrower = make ? make(theirs, options_.region, its_row)
                       : std::make_shared<Borrower>(theirs, options_.region, its_row);
  edge.theirs = std::move(theirs);
  edge.row = row;
}

bool Sharing::has_taken(PeerId neighbor, std::uint64_t incarnation) const {
  const auto at = edges_.find(neighbor);
  return at != edges_.end() && at->second.incarnation == incarnation && at->second.borrower;
}

void Sharing::open(PeerId neighbor) {
  Edge& edge = edges_.at(neighbor);
  lender_->open(row_of(neighbor), edge.theirs, edge.row);
  edge.open = true;
  if (options_.on_change) options_.on_change(neighbor, true);
}

void Sharing::shut(PeerId neighbor) {
  Edge& edge = edges_.at(neighbor);
  lender_->close(row_of(neighbor));
  if (edge.borrower) edge.borrower->retire();
  const bool was_open = edge.open;
  edge = {.incarnation = edge.incarnation, .borrower = {}, .theirs = {}};
  if (was_open && options_.on_change) options_.on_change(neighbor, false);
}

bool Sharing::is_open(PeerId neighbor) const {
  const auto at = edges_.find(neighbor);
  return at != edges_.end() && at->second.open;
}

std::optional<Loan> Sharing::lend(PeerId to, const Buffer& payload) {
  if (!is_open(to)) return {};
  return lender_->lend(payload, row_of(to));
}

Verdict Sharing::borrow(PeerId from,
                        std::uint64_t incarnation,
                        const Loan& loan,
                        std::uint64_t most_bytes,
                        Payload& out) const {
  if (!has_taken(from, incarnation)) return "a loan of memory that it has not given us";
  return edges_.at(from).borrower->borrow(loan, most_bytes, out);
}

}  // namespace gv

#include "peer/wire/lend/borrower.h"

#include <utility>

#include <fmt/format.h>

namespace gv {

/// Stands for the block in the hands of whoever holds the payload.
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
    out = std::move(before);  // sent again over another connection
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
    return fmt::format("a loan of block {} of {}", loan.block, shape.blocks);
  if (loan.bytes == 0 || loan.offset % 64 != 0 || loan.offset < shape.blocks_begin() ||
      loan.offset > shape.size() || loan.bytes > shape.size() - loan.offset)
    return fmt::format("a loan of {} bytes at {}, outside of the blocks", loan.bytes, loan.offset);
  return "";
}

Verdict Borrower::judge_use(const Loan& loan) const {
  const std::uint64_t there = theirs_.generation(loan.block).load(std::memory_order_acquire);
  if (loan.generation == 0 || there != loan.generation)
    return fmt::format(
        "a loan of use {} of block {}, which holds use {}", loan.generation, loan.block, there);
  return "";
}

void Borrower::give_back(std::uint32_t block, std::uint64_t generation) noexcept {
  if (retired_) return;
  ours_.given_back(row_, block).store(generation, std::memory_order_release);
}

}  // namespace gv

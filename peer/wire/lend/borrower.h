#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "optim/buffer.h"
#include "optim/error_text.h"
#include "peer/wire/lend/loan.h"
#include "peer/wire/lend/region.h"

namespace gv {

/// The region of one neighbour, mapped here, and what was borrowed of it. On the peer's loop.
/// Invariant: our region says that a use of a block was given back when nobody here holds it any
/// more, and not before.
class Borrower : public std::enable_shared_from_this<Borrower> {
 public:
  /// `theirs` is only read. `row`: of ours, in which we say what was given back.
  Borrower(Region theirs, Region ours, std::uint32_t row);
  virtual ~Borrower() = default;

  /// The payload where it lies. What the neighbour says of it is checked: where its memory holds
  /// something else, or the loan reaches beyond it, an error and no payload.
  Verdict borrow(const Loan& loan, std::uint64_t most_bytes, Payload& out);
  /// Its process has ended: what it lent is ours to keep, and the row is free for the next one.
  void retire() { retired_ = true; }

 protected:
  virtual Verdict judge_place(const Loan& loan) const;
  virtual Verdict judge_use(const Loan& loan) const;
  /// Gives back what came before: what our region says of the block may be of a process before this
  /// one, or this use may have come before over a connection that no longer counted, and have been
  /// given back. The neighbour does not look before we acknowledge the message.
  virtual void hold(const Loan& loan) { give_back(loan.block, loan.generation - 1); }

 private:
  class Held;
  struct Use {
    std::uint64_t generation = 0;
    std::weak_ptr<const Buffer> payload{};
  };
  void give_back(std::uint32_t block, std::uint64_t generation) noexcept;

  Region theirs_;
  Region ours_;
  std::uint32_t row_;
  bool retired_ = false;
  std::vector<Use> held_;  ///< by block: the last use that came
};

}  // namespace gv

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/message.h"
#include "optim/buffer.h"
#include "optim/error_text.h"
#include "peer/wire/lend/region.h"

namespace gv {

/// The note that a frame carries for a payload: its place in the sender's region (region.h), for a
/// neighbour that has mapped it. Believed only as far as Borrower::borrow checks it.
struct Loan {
  std::uint32_t block = 0;
  std::uint64_t offset = 0;      ///< from the beginning of the region; a multiple of 64
  std::uint64_t bytes = 0;       ///< of the payload; not 0
  std::uint64_t generation = 0;  ///< which use of the block it is
};

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

/// Parts by which a test replaces the ones that ship, to show that the swarm notices.
struct SharingParts {
  std::function<std::shared_ptr<Lender>(Region ours, std::size_t smallest)> lender{};
  std::function<std::shared_ptr<Borrower>(Region theirs, Region ours, std::uint32_t row)>
      borrower{};
};

/// The memory that one process lends to its neighbours and borrows from them. It has no socket:
/// whoever has proved that a neighbour is on this machine hands its region in.
/// An edge is open while the neighbour can read our region; until then, and where it is never
/// opened, payloads travel as bytes.
///
///   met --take: the neighbour's region is here--> taken --open: it has ours--> open
///   taken, open --shut: its process has ended, or a new one is met--> met
class Sharing {
 public:
  struct Options {
    PeerId self = 0;
    std::uint64_t incarnation = 0;
    std::vector<PeerId> neighbors;  ///< ascending; the k-th has row k
    Region region;
    std::size_t smallest = 1024;  ///< bytes of a payload that is lent
    std::function<bool(std::uint64_t offset, std::uint64_t bytes)> reserve{};  ///< see Lender
    std::shared_ptr<BufferMemory> beside{};                                    ///< see Lender
    std::function<void(PeerId neighbor, bool open)> on_change{};
    SharingParts parts{};
  };
  explicit Sharing(Options options);

  PeerId self() const { return options_.self; }
  std::uint64_t incarnation() const { return options_.incarnation; }
  const Region& region() const { return options_.region; }
  std::shared_ptr<BufferMemory> memory() const { return lender_; }
  std::uint32_t row_of(PeerId neighbor) const;

  /// The link is with this process of the neighbour. True: it has given us no memory yet.
  bool met(PeerId neighbor, std::uint64_t incarnation);
  /// Returns whether such a region may be taken from it now. `row`: ours in it.
  bool fits(PeerId neighbor,
            std::uint64_t incarnation,
            const RegionShape& shape,
            std::uint32_t row) const;
  void take(PeerId neighbor, Region theirs, std::uint32_t row);
  /// It has given us its memory, and is still the process that we have met.
  bool has_taken(PeerId neighbor, std::uint64_t incarnation) const;
  void open(PeerId neighbor);
  void shut(PeerId neighbor);
  bool is_open(PeerId neighbor) const;

  /// Lends a payload to a neighbour; nothing: it is to travel as bytes.
  std::optional<Loan> lend(PeerId to, const Buffer& payload);
  /// A loan that came over a connection with this process of the neighbour.
  Verdict borrow(PeerId from,
                 std::uint64_t incarnation,
                 const Loan& loan,
                 std::uint64_t most_bytes,
                 Payload& out) const;

 private:
  struct Edge {
    std::uint64_t incarnation = 0;       ///< that we have met; 0: none
    std::shared_ptr<Borrower> borrower;  ///< null: it has given us no memory
    Region theirs;
    std::uint32_t row = 0;  ///< ours in it
    bool open = false;
  };

  Options options_;
  std::shared_ptr<Lender> lender_;
  std::map<PeerId, Edge> edges_;
};

}  // namespace gv

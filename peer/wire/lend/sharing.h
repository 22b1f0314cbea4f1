#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/seam/message.h"
#include "optim/buffer.h"
#include "optim/error_text.h"
#include "peer/wire/lend/region.h"

namespace gv {

/// Description of a lent payload in a frame: its place in the sender's region (region.h), which the
/// receiver has mapped. Untrusted until Borrower::borrow has checked it.
struct Loan {
  std::uint32_t block = 0;
  std::uint64_t offset = 0;      ///< offset in the region; a multiple of 64
  std::uint64_t bytes = 0;       ///< size of the payload; not 0
  std::uint64_t generation = 0;  ///< number of the block's use
};

/// The mapped region of one neighbour, and the payloads borrowed from it. Used on the peer's loop.
/// Invariant: our region reports a use of a block as given back once its payload is no longer held
/// here, and not before.
class Borrower : public std::enable_shared_from_this<Borrower> {
 public:
  /// `theirs` is only read. `row`: row of `ours` in which we report blocks as given back.
  Borrower(Region theirs, Region ours, std::uint32_t row);
  virtual ~Borrower() = default;

  /// Sets `out` to the payload in place. Returns an error without a payload if the loan, which is
  /// checked, exceeds the neighbour's memory or does not match its content.
  Verdict borrow(const Loan& loan, std::uint64_t most_bytes, Payload& out);
  /// Called when its process has ended: lent payloads stay valid, and the row is free for another.
  void retire() { retired_ = true; }

 protected:
  virtual Verdict judge_place(const Loan& loan) const;
  virtual Verdict judge_use(const Loan& loan) const;
  /// Gives back earlier uses of the block: our region's entry may be of an earlier process, or this
  /// use may have come and been given back over an older connection. The neighbour does not look
  /// before we acknowledge the message.
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
  std::vector<Use> held_;  ///< last use received, by block
};

/// Blocks of our own region, as memory of the payloads that we send. Used on the peer's loop.
/// Invariant: a lent block is not written again until the neighbour's region reports this use as
/// given back, or the neighbour's process has ended.
class Lender : public BufferMemory {
 public:
  /// Payloads under `smallest` bytes are sent instead, which is cheaper. `reserve`: allocates
  /// `bytes` of memory from `offset` on, false if there is not enough; empty if it is allocated
  /// already. Other payloads come from the last argument, or from ordinary memory if that is null.
  Lender(Region region,
         std::size_t smallest,
         std::function<bool(std::uint64_t offset, std::uint64_t bytes)> reserve = {},
         std::shared_ptr<BufferMemory> beside = nullptr);

  /// Allocates in the region while it has room, otherwise outside.
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* block) noexcept override;
  bool lent(const std::byte* block) const override;
  void renew(std::byte* block) override;

  const Region& region() const { return region_; }
  /// Called when the neighbour of `row` has mapped our region; it reports blocks as given back in
  /// `their_row` of its own.
  void open(std::uint32_t row, Region theirs, std::uint32_t their_row);
  /// Called when the process of this neighbour has ended.
  void close(std::uint32_t row);
  /// Lends a payload to the neighbour of `row`. Returns nothing if it must be sent as bytes.
  std::optional<Loan> lend(const Buffer& payload, std::uint32_t row);

 protected:
  /// Returns whether the neighbour of `row` has given back this use of the block.
  virtual bool given_back(std::uint32_t row, std::uint32_t block, std::uint64_t generation) const;

 private:
  struct Block {
    std::uint64_t offset;
    std::uint64_t capacity;
    std::uint64_t generation = 0;
    std::vector<std::uint64_t> lent{};  ///< last generation lent, by row; 0: never
  };
  struct Borrowing {
    Region region;
    std::uint32_t row;  ///< our row in it
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
  std::vector<Block> blocks_;                                 ///< ascending by offset
  std::uint64_t used_;                                        ///< end of the used part
  std::map<std::uint64_t, std::vector<std::uint32_t>> free_;  ///< free blocks, by capacity
  std::vector<std::optional<Borrowing>> rows_;
};

/// Replacements of Lender and Borrower, by which tests show that the swarm notices faults.
struct SharingParts {
  std::function<std::shared_ptr<Lender>(Region ours, std::size_t smallest)> lender{};
  std::function<std::shared_ptr<Borrower>(Region theirs, Region ours, std::uint32_t row)>
      borrower{};
};

/// Memory that a process lends to its neighbours and borrows from them. Has no socket: the caller
/// passes in the region of a neighbour that is proved to be on this machine.
/// An edge is open while the neighbour can read our region; otherwise payloads are sent as bytes.
///
///   met --take: the neighbour's region is here--> taken --open: it has ours--> open
///   taken, open --shut: its process has ended, or a new one is met--> met
class Sharing {
 public:
  struct Options {
    PeerId self = 0;
    std::uint64_t incarnation = 0;
    std::vector<PeerId> neighbors;  ///< ascending; neighbour k has row k
    Region region;
    std::size_t smallest = 1024;  ///< minimum size of a lent payload, bytes
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

  /// Records the neighbour's process. Returns true if that has not given us its memory yet.
  bool met(PeerId neighbor, std::uint64_t incarnation);
  /// Returns whether such a region may be taken from the neighbour now. `row`: ours in it.
  bool fits(PeerId neighbor,
            std::uint64_t incarnation,
            const RegionShape& shape,
            std::uint32_t row) const;
  void take(PeerId neighbor, Region theirs, std::uint32_t row);
  /// Returns whether the neighbour has given us its memory and is still the process that we met.
  bool has_taken(PeerId neighbor, std::uint64_t incarnation) const;
  void open(PeerId neighbor);
  void shut(PeerId neighbor);
  bool is_open(PeerId neighbor) const;

  /// Lends a payload to a neighbour. Returns nothing if it must be sent as bytes.
  std::optional<Loan> lend(PeerId to, const Buffer& payload);
  /// Borrows a payload whose loan came over a connection with this process of the neighbour.
  Verdict borrow(PeerId from,
                 std::uint64_t incarnation,
                 const Loan& loan,
                 std::uint64_t most_bytes,
                 Payload& out) const;

 private:
  struct Edge {
    std::uint64_t incarnation = 0;       ///< process that we have met; 0: none
    std::shared_ptr<Borrower> borrower;  ///< null until it has given us its memory
    Region theirs;
    std::uint32_t row = 0;  ///< our row in it
    bool open = false;
  };

  Options options_;
  std::shared_ptr<Lender> lender_;
  std::map<PeerId, Edge> edges_;
};

}  // namespace gv

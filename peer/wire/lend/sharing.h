#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/message.h"
#include "peer/wire/lend/borrower.h"
#include "peer/wire/lend/lender.h"

namespace gv {

/// The parts that a test puts instead of those that ship, to show that the swarm notices.
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

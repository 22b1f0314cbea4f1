#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "gossip/core.h"
#include "gossip/traffic.h"

namespace gv {

/// The arithmetic of a method's exchanges on the replica: what of its vectors travels, and what a
/// half that has come moves. When, with whom and how often is decided by the protocol (exchange.h).
class ExchangeFlows {
 public:
  explicit ExchangeFlows(PeerCore& self);

  bool plain() const { return plain_; }
  /// Returns whether what travels is another one for each receiver.
  bool for_each() const { return for_each_; }
  std::uint32_t parts() const { return parts_of(self_.plan.traffic, self_.replica.size()); }
  Piece piece(std::uint32_t part) const {
    return part_of(self_.plan.traffic, self_.replica.size(), part);
  }

  /// Returns what travels of a part to all receivers; `for_each()`: to neighbour k. `round`: of the
  /// fleet's clock.
  Task<Payload> half(std::uint32_t part, Round round);
  Task<Payload> half_for(std::size_t k, std::uint32_t part, Round round);
  /// The share of a distance that flows.
  struct Share {
    float weight = 0;
    double bound = unbounded;  ///< a longer distance counts as one of this length
    /// Moves what travels and no memory, and nothing of what has flowed acts any more.
    bool once = false;
  };
  struct Applied {
    bool finite = true;  ///< theirs held no other values
    float factor = 1;    ///< what clipping made of the weight
  };
  /// Applies the flow of a part between our half and theirs.
  Task<Applied> apply(std::size_t k, std::uint32_t part, Share share, Payload theirs, Payload ours);
  /// Forgets what stood between us and neighbour k: it is missing from now on, or it or we begin
  /// again. What flowed over the edge is given back.
  Task<> forget(std::size_t k);
  /// Restarts the sum of our increments to neighbour k, or of its increments to us, from zero. Both
  /// ends do so after a void half of that direction.
  Task<> restart_told(std::size_t k);
  Task<> restart_heard(std::size_t k);
  bool runs() const { return self_.plan.traffic.running; }
  bool remembers(std::size_t k) const { return !plain_ && memories_[k].holds; }
  /// While neighbour k is absent or owes an answer, what flowed over the edge does not count; it
  /// counts again with the next flow. Both ends do so: among those that are together the flows that
  /// count sum to zero.
  Task<> suspend(std::size_t k);
  bool suspended(std::size_t k) const {
    return memories_[k].suspended != nullptr && *memories_[k].suspended != 0;
  }
  bool gives_back(std::size_t k) const { return memories_[k].suspended != nullptr; }

 private:
  Task<> resume(std::size_t k);

  struct Moved {
    Vector carries;
    std::vector<Vector> moves;
    std::optional<Vector> returns, sent;
  };
  /// The memory of one edge, by stream.
  struct Memory {
    std::vector<Vector> carried, told, heard, flowed, theirs;
    /// Not 0: what flowed does not count at present. Null: this method gives nothing back.
    double* suspended = nullptr;
    bool holds = true;  ///< something may stand in these
  };

  Vector vector(std::string_view name);
  void clear(Memory& memory);
  void add_flowed(const Memory& memory, float factor);
  Memory memory_of(const Neighbor& neighbor);
  std::optional<Codec> codec(const Piece& piece, Round round) const;
  void increment(const Memory& memory, const Piece& piece, Buffer& out);
  void encode(const std::optional<Codec>& codec, Vector v, Range r, Buffer& out);
  void unpack(const Memory& memory, const Piece& piece, Buffer& theirs, Buffer& ours);
  Applied move(const Memory& memory,
               const Piece& piece,
               Share share,
               const Buffer& theirs,
               const Buffer& ours);

  PeerCore& self_;
  const bool plain_, for_each_;
  std::vector<Moved> streams_;
  std::vector<Memory> memories_;  ///< by place of the neighbour
  std::optional<Vector> difference_;
};

}  // namespace gv

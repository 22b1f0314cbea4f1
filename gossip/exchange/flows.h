#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "gossip/core/core.h"
#include "gossip/seam/traffic.h"

namespace gv {

/// The arithmetic of a method's exchanges on the replica: which vectors travel, and what a received
/// half moves. The protocol (exchange.h) decides when, with which peer and how often.
class ExchangeFlows {
 public:
  explicit ExchangeFlows(PeerCore& self);

  bool plain() const { return plain_; }
  /// Returns whether each receiver gets a vector of its own.
  bool for_each() const { return for_each_; }
  std::uint32_t parts() const { return parts_of(self_.plan.traffic, self_.replica.size()); }
  Piece piece(std::uint32_t part) const {
    return part_of(self_.plan.traffic, self_.replica.size(), part);
  }

  /// Returns the payload of a part for all receivers; if for_each(): for neighbour k. `round` is of
  /// the fleet's clock.
  Task<Payload> half(std::uint32_t part, Round round);
  Task<Payload> half_for(std::size_t k, std::uint32_t part, Round round);
  /// The share of a distance that flows.
  struct Share {
    float weight = 0;
    double bound = unbounded;  ///< a longer distance counts as one of this length
    /// Moves the carried vectors and no memory; past flows stop acting.
    bool once = false;
  };
  struct Applied {
    bool finite = true;  ///< true if all their values were finite
    float factor = 1;    ///< factor that clipping applied to the weight
  };
  /// Applies the flow of a part between our half and theirs.
  Task<Applied> apply(std::size_t k, std::uint32_t part, Share share, Payload theirs, Payload ours);
  /// Forgets the memory of neighbour k: it is missing from now on, or one end restarts. Gives back
  /// the past flows over the edge.
  Task<> forget(std::size_t k);
  /// Restarts the sum of our increments to neighbour k, or of its increments to us, from zero. Both
  /// ends do so after a void half of that direction.
  Task<> restart_told(std::size_t k);
  Task<> restart_heard(std::size_t k);
  bool runs() const { return self_.plan.traffic.running; }
  bool remembers(std::size_t k) const { return !plain_ && memories_[k].holds; }
  /// Suspends the past flows over the edge until the next flow, while neighbour k is absent or owes
  /// an answer. Both ends do so: for peers that are together the flows that count sum to zero.
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
    /// Not 0: past flows do not count at present. Null if this method gives nothing back.
    double* suspended = nullptr;
    bool holds = true;  ///< the vectors above may be nonzero
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

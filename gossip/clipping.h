#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gossip/core.h"

namespace gv {

class Suspicion;

/// Symmetric clipping, against neighbours that lie: the flow of a piece counts for no more than a
/// distance that both ends know, w min(1, bound / ||x_j - x_i||), so that the flows stay opposite
/// to the bit and the mean is kept. After ClippedGossip (He, Karimireddy & Jaggi 2022,
/// arXiv:2202.01545, equation 5), of whose radius that paper says that it should follow how far the
/// honest are from each other, which is some steps of theirs.
///
/// With each piece an end sends the longest distance that is to count whole: `robust: { clip: TAU
/// }` that of the whole vector, in proportion to the root of the piece's length; `auto` so many
/// times as its own model moves by its own steps between two exchanges. Of the two bounds the
/// shorter holds. So nothing that a neighbour sends can lengthen the bound, and no end must know
/// what the other one has seen: a successor, or who begins again with a checkpoint, is in agreement
/// with its neighbours at once.
///
/// Invariant of `auto`: what is known of a piece is the model at some places as the flows alone
/// have moved it since our last half; what it is more by the next half is our own step. Kept as
/// scalars of the replica, so that checkpoints hold it. Before the first step is known nothing
/// flows, which is in one exchange; the mean square is then that of as many steps as there were,
/// and from the 20th on each one weighs a 20th.
///
/// A neighbour that is taken for a liar pulls always the same way, which no gradient holds against
/// for long: little of the bound goes to it (suspicion.h).
class Clipping {
 public:
  /// `parts`: of an exchange.
  Clipping(PeerCore& self, std::uint32_t parts);
  ~Clipping();

  bool on() const { return self_.plan.traffic.robust.has_value(); }
  /// The bound that goes with our half of a part, x[r] as it is now; of it, how much to neighbour
  /// k.
  float offer(std::uint32_t part, Range r, const Buffer& half);
  float share_of(std::size_t k) const;
  /// A flow of weight w, the clipping in it, moves this part of x.
  void flowed(std::size_t k, std::uint32_t part, float w, const Buffer& theirs, const Buffer& ours);
  /// x is another one: what is known of it says nothing about our next step.
  void forget();

  /// A piece of an exchange, as it counted.
  struct Counted {
    ExchangeNumber exchange;
    std::uint32_t part = 0;
    double bound = unbounded;  ///< of both ends
    float factor = 1;
  };
  void counted(std::size_t k, const Counted& piece);
  /// Another process has taken the place of k: nothing is held against it.
  void replaced(std::size_t k);
  /// Returns the counts of those neighbours of whom anything was clipped; ascending.
  std::vector<ClippedFlows> counts() const;

 private:
  /// All that is known of a part, in values that the replica keeps.
  struct Part {
    double* round = nullptr;   ///< of our last half, counted from 1; 0: there was none
    double* steps = nullptr;   ///< known
    double* square = nullptr;  ///< of one step at one place, the mean
    std::vector<double*> x{};  ///< at places()
  };
  struct Tally {
    std::uint64_t exchanges = 0, far = 0, still = 0;
    bool clipped_now = false;  ///< a piece of the present exchange is
  };

  std::size_t place(const Part& part, std::size_t c, std::size_t count) const;
  void learn(Part& part, std::span<const float> x);
  void judge(std::size_t k);
  bool is_auto() const { return on() && *self_.plan.traffic.robust == 0; }

  PeerCore& self_;
  std::uint32_t last_part_;
  std::vector<Part> parts_;
  std::unique_ptr<Suspicion> suspicion_;  ///< null: a length is given, and nobody is judged
  std::vector<double> offered_;           ///< by part, with our latest half
  std::vector<Tally> tallies_;            ///< by place of the neighbour
};

}  // namespace gv

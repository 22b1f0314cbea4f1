#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gossip/core/core.h"

namespace gv {

class Suspicion;

/// Symmetric clipping, against neighbours that lie. The flow of a piece counts for no more than a
/// distance that both ends know, w min(1, bound / ||x_j - x_i||), so the flows stay opposite to the
/// bit and the mean is kept. After ClippedGossip (He, Karimireddy & Jaggi 2022, arXiv:2202.01545,
/// equation 5). According to that paper the radius should follow the distance between honest peers,
/// which is some steps of theirs.
///
/// With each piece an end sends the longest distance that counts whole. `robust: { clip: TAU }`
/// sets it for the whole vector; a piece has its part, in proportion to the root of its length.
/// `auto` uses a multiple of the distance that the peer's own steps move its model between two
/// exchanges. The shorter of the two ends' bounds holds. So nothing that a neighbour sends can
/// lengthen the bound, and no end must know what the other one has seen: a successor, or a peer
/// restored from a checkpoint, agrees with its neighbours at once.
///
/// Invariant of `auto`: for each piece we remember the model at some places, as the flows alone
/// have moved it since our last half. The difference to the next half is our own step. Both are
/// kept as scalars of the replica, so that checkpoints hold them. Before the first step is known,
/// in one exchange, nothing flows. The mean square covers as many steps as there were; from the
/// 20th on each new step weighs a 20th.
///
/// A neighbour that is taken for a liar always pulls the same way, and no gradient resists that for
/// long. So it gets only a small share of the bound.
class Clipping {
 public:
  /// `parts`: number of parts of an exchange.
  Clipping(PeerCore& self, std::uint32_t parts);
  ~Clipping();

  bool on() const { return self_.plan.traffic.robust.has_value(); }
  /// Returns the bound that goes with our half of a part, x[r] as it is now. share_of() is the
  /// fraction that neighbour k gets.
  float offer(std::uint32_t part, Range r, const Buffer& half);
  float share_of(std::size_t k) const;
  /// Records that a flow of weight w, clipping included, moves this part of x.
  void flowed(std::size_t k, std::uint32_t part, float w, const Buffer& theirs, const Buffer& ours);
  /// x was replaced: forgets what was learnt, because it does not predict our next step.
  void forget();

  /// A piece of an exchange, as it was counted.
  struct Counted {
    ExchangeNumber exchange;
    std::uint32_t part = 0;
    double bound = unbounded;  ///< the bound that both ends agreed on
    float factor = 1;
  };
  void counted(std::size_t k, const Counted& piece);
  /// Another process has taken the place of k: forgets everything held against it.
  void replaced(std::size_t k);
  /// Returns the counts of the neighbours that had any flow clipped; ascending.
  std::vector<ClippedFlows> counts() const;

 private:
  /// The facts known about a part, in values that the replica keeps.
  struct Part {
    double* round = nullptr;   ///< round of our last half, counted from 1; 0 if there was none
    double* steps = nullptr;   ///< number of steps that are known
    double* square = nullptr;  ///< mean square of one step at one place
    std::vector<double*> x{};  ///< at places()
  };
  struct Tally {
    std::uint64_t exchanges = 0, far = 0, still = 0;
    bool clipped_now = false;  ///< a piece of the present exchange is clipped
  };

  std::size_t place(const Part& part, std::size_t c, std::size_t count) const;
  void learn(Part& part, std::span<const float> x);
  void judge(std::size_t k);
  bool is_auto() const { return on() && *self_.plan.traffic.robust == 0; }

  PeerCore& self_;
  std::uint32_t last_part_;
  std::vector<Part> parts_;
  std::unique_ptr<Suspicion> suspicion_;  ///< null if clipping is off
  std::vector<double> offered_;           ///< by part, with our latest half
  std::vector<Tally> tallies_;            ///< by place of the neighbour
};

/// Distinguishes a neighbour that lies from one whose data differ, for `robust: { clip: auto }`, by
/// two things that no honest neighbour does for long.
///
/// A liar stays apart: at its distance 1.6 of our own steps would flow over the edge, and it is
/// 2.75 times as far away as the median of our other neighbours. A peer that trains on unlike data
/// is far away too, but then so are the others. (He, Karimireddy & Jaggi 2022, arXiv:2202.01545,
/// use a quantile of the neighbours' distances as the bound itself, which a liar can then drive.)
/// After each such exchange its share of our bound is multiplied by four fifths, down to a
/// fiftieth; after each other exchange the share grows by a fifth. So a liar has lost its pull
/// before it has moved us so far that we look like a liar to our neighbours.
///
/// Or a liar stands still: in two successive windows of 20 exchanges its model has moved by less
/// than a tenth of what ours has. Such a neighbour is a process that restarts again and again, or
/// has a broken optimizer; it is near, and holds back all peers.
///
/// Peers are judged by x alone. The values that determine the share are kept as scalars of the
/// replica, so that checkpoints hold them.
class Suspicion {
 public:
  /// `by_steps`: false if a length is given; then only distance is judged, without consequence.
  Suspicion(PeerCore& self, bool by_steps);

  /// Records the distance in a part of an exchange, in multiples of the distance that counts whole.
  void measure(std::size_t k, bool first, double times);
  /// Records, off the loop, a part of an exchange whose flow had weight w, clipping included.
  void see(std::size_t k, std::uint32_t part, float w, const Buffer& theirs, const Buffer& ours);
  /// Judges k after all parts were recorded; `step`: length of one of our own steps.
  void judge(std::size_t k, double step);
  /// Returns the distance, in own steps, at which neighbour k still counts whole.
  float counts(std::size_t k) const;
  /// Another process has taken the place of k: forgets everything held against it.
  void replaced(std::size_t k);

  /// Number of exchanges after which a neighbour that stands still is taken for a liar.
  static constexpr std::uint64_t still_after() { return window * windows_still; }
  /// Returns whether k was taken for a liar in the last exchange with it.
  bool apart(std::size_t k) const { return about_[k].apart; }
  bool still(std::size_t k) const;
  /// Returns the distance in that exchange, in multiples of the distance that counts whole.
  double times(std::size_t k) const { return about_[k].times; }
  /// Returns the distance that the exchanges of this life have moved us, in own steps.
  double moved(std::size_t k) const { return about_[k].moved; }

 private:
  static constexpr std::size_t most_places = 64;
  static constexpr std::uint64_t window = 20, windows_still = 2;  ///< exchanges, and windows
  using Places = std::vector<float>;

  struct About {
    // Values that the replica keeps.
    double* distance = nullptr;   ///< in the last exchange; 0 if there was none
    double* apart_for = nullptr;  ///< exchanges in which it stayed apart, less the others
    double* exchanges = nullptr;  ///< number since the anchor
    double* windows = nullptr;    ///< successive windows in which it stood still
    std::vector<double*> their_anchor{}, our_anchor{};  ///< at places, as the window began
    // Values of the present exchange.
    double square = 0, flow = 0;  ///< squared distance, and squared length of the flow
    Places theirs{}, ours{};
    // Values of this life.
    bool apart = false;
    double times = 0, moved = 0;
  };

  double steps_whole(std::size_t k) const;
  double usual_distance(std::size_t k, double whole) const;
  void look_whether_it_moves(About& about);

  PeerCore& self_;
  std::vector<About> about_;  ///< by place of the neighbour
};

}  // namespace gv

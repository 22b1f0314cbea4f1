#pragma once

#include <array>
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
/// for long: little of the bound goes to it.
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

/// Tells a neighbour that lies from one whose data are other, for `robust: { clip: auto }`, by two
/// things that no honest one does for long.
///
/// It stays apart: it is so far away that 1.6 of our own steps would flow over the edge, and 2.75
/// times as far as the median of our other neighbours. Who trains on unlike data is far away too,
/// but so are then the others. (He, Karimireddy & Jaggi 2022, arXiv:2202.01545, take a quantile of
/// the neighbours' distances as the bound itself, which a liar then drives.) After each such
/// exchange it gets four fifths of the share of our bound that it had, down to a fiftieth, and
/// after each other one a fifth more: so it has lost its pull before it has moved us so far that we
/// look like a liar to our neighbours.
///
/// It stands still: in two times 20 exchanges one after the other its model has moved by less than
/// a tenth of what ours has. That is a process that begins again and again, or an optimizer that is
/// dead; it is near, and holds everybody where they began.
///
/// Judged by x alone. All that the share follows from is kept as scalars of the replica, so that
/// checkpoints hold it.
class Suspicion {
 public:
  /// `by_steps`: else a length is given, nobody is judged by more than how far away it is, and
  /// everybody keeps the whole bound.
  Suspicion(PeerCore& self, bool by_steps);

  /// Measures the length of a part of an exchange: so many times as far away as counts whole.
  void measure(std::size_t k, bool first, double times);
  /// Sees, off the loop, a part of an exchange, whose flow had this weight, clipping included.
  void see(std::size_t k, std::uint32_t part, float w, const Buffer& theirs, const Buffer& ours);
  /// Judges k after all of it was seen; `step`: how far one of our own steps moves the model.
  void judge(std::size_t k, double step);
  /// Returns how many of our own steps away neighbour k may be and count whole.
  float counts(std::size_t k) const;
  /// Another process has taken the place of k: nothing is held against it.
  void replaced(std::size_t k);

  /// Exchanges after which who stands still is taken for a liar.
  static constexpr std::uint64_t still_after() { return window * windows_still; }
  /// Returns whether the last exchange with k was one of those in which it is taken for a liar.
  bool apart(std::size_t k) const { return about_[k].apart; }
  bool still(std::size_t k) const;
  /// Returns how many times as far away it was then as counts whole.
  double times(std::size_t k) const { return about_[k].times; }
  /// Returns how far the exchanges of this life have moved us, in own steps.
  double moved(std::size_t k) const { return about_[k].moved; }

 private:
  static constexpr std::size_t most_places = 64;
  static constexpr std::uint64_t window = 20, windows_still = 2;  ///< exchanges, and windows
  using Places = std::vector<float>;

  struct About {
    // Values that the replica keeps.
    double* distance = nullptr;   ///< in the last exchange; 0: there was none
    double* apart_for = nullptr;  ///< exchanges in which it stayed apart, less those in which not
    double* exchanges = nullptr;  ///< since the anchor
    double* windows = nullptr;    ///< one after the other, in which it stood still
    std::vector<double*> their_anchor{}, our_anchor{};  ///< at places, as the window began
    // Of the present exchange.
    double square = 0, flow = 0;  ///< of the distance, and of the flow
    Places theirs{}, ours{};
    // Of this life.
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

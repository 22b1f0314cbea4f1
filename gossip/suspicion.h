#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gossip/core.h"

namespace gv {

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

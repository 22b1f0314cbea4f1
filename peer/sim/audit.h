#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gossip/seam/journal.h"
#include "gossip/seam/traffic.h"

namespace gv {

/// One process of a peer.
struct Life {
  PeerId peer = 0;
  std::uint64_t number = 0;
  auto operator<=>(const Life&) const = default;
};

/// Compares the ledgers of all peers. Every piece of an exchange must be applied once at each end,
/// in order, with the same weight and bit-identical vectors, so that the flows are opposite. One
/// end may miss the last exchange only if the other is dead.
class Audit {
 public:
  /// `traffic`: content of the settlement's halves, for vectors of length d.
  void settled(
      Life at, Life with, const Settlement& settlement, const Traffic& traffic, std::size_t d);
  /// Reports that a reader accepted a loan that the lender's memory does not hold.
  void believed(Life reader, Life lender);
  /// Ignores what this life did, and what was done with it, as evidence about the others.
  void distrust(Life life) { liars_.insert(life); }
  /// Reports at the end what counts at one end only. `dead`: a life ended without last messages.
  void close(const std::function<bool(Life)>& dead,
             const std::function<bool(Life, Life)>& given_up);
  /// Returns the sum of what a life's exchanges added to its x, for finite values.
  const std::vector<double>& flows(Life life) { return flows_[life]; }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Side {
    ExchangeNumber exchange;         ///< exchange of the next piece
    std::uint32_t part = 0;          ///< index of the next piece
    std::deque<Settlement> waiting;  ///< pieces that the other side has not settled yet
  };
  using Pair = std::pair<Life, Life>;

  bool trusted(Life a, Life b) const { return !liars_.contains(a) && !liars_.contains(b); }
  std::vector<float> flow(
      Life at, Life with, const Settlement& s, const Traffic& traffic, const Piece& piece);
  void advance(Life at, Life with, Side& side, const Settlement& s);
  void compare(const Pair& pair, const Settlement& a, const Settlement& b);

  std::map<Pair, std::array<Side, 2>> pairs_;
  std::map<Life, std::vector<double>> flows_;
  /// Sums sent by one life to another, and received from it, for running traffic: by stream.
  std::map<std::pair<Pair, std::size_t>, std::vector<float>> told_, heard_;
  std::set<Life> liars_;
  std::vector<std::string> violations_;
};

}  // namespace gv

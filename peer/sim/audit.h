#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gossip/journal.h"
#include "gossip/traffic.h"

namespace gv {

/// One process of a peer.
struct Life {
  PeerId peer = 0;
  std::uint64_t number = 0;
  auto operator<=>(const Life&) const = default;
};

/// The books of all peers, side by side. Every piece of an exchange is applied once at each end, in
/// order, with the same weight and the same two vectors, bit for bit: so the flows are opposite.
/// One end may miss the last exchange only if the other is dead.
class Audit {
 public:
  /// `traffic`: what the settlement's halves carry, of vectors of length d.
  void settled(
      Life at, Life with, const Settlement& settlement, const Traffic& traffic, std::size_t d);
  /// Notes what was believed though it is not what its sender's memory holds, or nothing of it.
  void believed(Life reader, Life lender);
  /// Counts what this life did, and what was done with it, as no word about the others.
  void distrust(Life life) { liars_.insert(life); }
  /// Reports at the end what counts at one end only. `dead`: a life ended without its last words.
  void close(const std::function<bool(Life)>& dead,
             const std::function<bool(Life, Life)>& given_up);
  /// The sum of what a life's exchanges added to its x, as far as it was finite.
  const std::vector<double>& flows(Life life) { return flows_[life]; }
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Side {
    ExchangeNumber exchange;         ///< next
    std::uint32_t part = 0;          ///< next
    std::deque<Settlement> waiting;  ///< for the other side
  };
  using Pair = std::pair<Life, Life>;

  bool trusted(Life a, Life b) const { return !liars_.contains(a) && !liars_.contains(b); }
  std::vector<float> flow(
      Life at, Life with, const Settlement& s, const Traffic& traffic, const Piece& piece);
  void advance(Life at, Life with, Side& side, const Settlement& s);
  void compare(const Pair& pair, const Settlement& a, const Settlement& b);

  std::map<Pair, std::array<Side, 2>> pairs_;
  std::map<Life, std::vector<double>> flows_;
  /// The sums that one life has told another, and heard of it, in running traffic: by stream.
  std::map<std::pair<Pair, std::size_t>, std::vector<float>> told_, heard_;
  std::set<Life> liars_;
  std::vector<std::string> violations_;
};

}  // namespace gv

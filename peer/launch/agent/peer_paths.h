#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "peer/launch/agent/machines.h"

namespace gv {

/// Addresses at which one machine reaches another, for some pairs. Found by trying: each machine
/// opens a door, and the others call at all its addresses (link_meter.h).
class PeerPaths {
 public:
  using Pair = std::pair<std::size_t, std::size_t>;  ///< places among the machines: caller, called

  /// Takes the pairs of machines with an edge between their peers.
  PeerPaths(const Assembly& fleet, Machines& machines);
  /// Takes all pairs of machines.
  explicit PeerPaths(Machines& machines);

  /// Tries the addresses; whatever fails on a machine counts as its failure.
  void find();
  /// Returns the address at which the first machine reaches the second, or "" if at none.
  /// Changes when the second machine comes back with another address.
  std::string between(const Pair& pair) const;
  const std::vector<Pair>& pairs() const { return pairs_; }  ///< each pair in both directions
  std::vector<std::string> texts() const;                    ///< "anna -> ben at 10.0.0.2"
  /// Returns the directions that do not work, and why, of pairs that connect in one direction only.
  std::vector<std::string> one_way() const;
  /// Returns the pairs that connect in no direction, and why, or "" if there are none.
  std::string missing() const;

 private:
  std::string dead_end(const Pair& pair) const;
  void open_doors();
  void call();
  std::vector<std::string> candidates(const Machine& caller, const Machine& called) const;

  Machines& machines_;
  std::vector<Pair> pairs_;
  std::map<Pair, std::string> paths_;
  std::map<Pair, std::string> dead_ends_;  ///< reason if there is no address
};

}  // namespace gv

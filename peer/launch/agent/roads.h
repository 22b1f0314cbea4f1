#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "peer/launch/agent/machines.h"

namespace gv {

/// The addresses at which a machine is reached by another one, for some pairs. Found by trying:
/// each opens a door, and the others call at all of its addresses (link_meter.h).
class Roads {
 public:
  using Pair = std::pair<std::size_t, std::size_t>;  ///< places among the machines: who calls, whom

  /// Takes the pairs of machines with an edge between their peers.
  Roads(const Assembly& fleet, Machines& machines);
  /// Takes all pairs of machines.
  explicit Roads(Machines& machines);

  /// Finds the roads by trying; whatever fails of a machine counts as its failure.
  void find();
  /// The address at which the first reaches the second; "": at none.
  std::string between(const Pair& pair) const;
  const std::vector<Pair>& pairs() const { return pairs_; }  ///< both ways of each
  std::vector<std::string> texts() const;                    ///< "anna -> ben at 10.0.0.2"
  /// Says which way does not work, and why, where only one of two machines reaches the other.
  std::vector<std::string> one_way() const;
  /// Says which machines reach each other in no direction, and why; "": all do in one at least.
  std::string missing() const;

 private:
  std::string dead_end(const Pair& pair) const;
  void open_doors();
  void call();
  std::vector<std::string> candidates(const Machine& caller, const Machine& called) const;

  Machines& machines_;
  std::vector<Pair> pairs_;
  std::map<Pair, std::string> roads_;
  std::map<Pair, std::string> dead_ends_;  ///< why there is none
};

}  // namespace gv

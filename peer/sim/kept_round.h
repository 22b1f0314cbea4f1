#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "peer/model/checkpoint/checkpoint_store.h"

namespace gv {

/// Stores every peer's state after one round of a simulation, from its on_store. Each peer has its
/// own element, so that peers on different threads need no lock.
class KeptRound {
 public:
  KeptRound(PeerId peers, Round round) : round_(round), states_(peers) {}

  Round round() const { return round_; }
  /// Stores another round from now on; called while no peer computes.
  void expect(Round round) { round_ = round; }
  /// Stores a state of this round; ignores other rounds.
  void take(PeerId peer, Round round, std::vector<std::byte> state) {
    if (round == round_) states_[peer] = std::move(state);
  }
  /// Returns whether all states have arrived; called while no peer computes.
  bool whole() const {
    return round_ > 0 && std::ranges::none_of(states_, &std::vector<std::byte>::empty);
  }
  /// Returns the states by peer, without the digests that files have.
  std::vector<Checkpoint> checkpoints() const {
    std::vector<Checkpoint> all;
    for (PeerId i = 0; i < states_.size(); ++i)
      all.push_back({.fleet = {}, .model = {}, .peer = i, .round = round_, .state = states_[i]});
    return all;
  }

 private:
  Round round_;
  std::vector<std::vector<std::byte>> states_;  ///< by peer; not yet there if empty
};

}  // namespace gv

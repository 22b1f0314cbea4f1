#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "peer/model/checkpoint/checkpoint_store.h"

namespace gv {

/// Every peer's state after one round of a simulation, from its on_store. Each peer has a place of
/// its own, so that peers on different threads need no lock.
class KeptRound {
 public:
  KeptRound(PeerId peers, Round round) : round_(round), states_(peers) {}

  Round round() const { return round_; }
  /// Keeps another round; called when no peer computes.
  void expect(Round round) { round_ = round; }
  /// Takes a state of this round, and leaves what is of another.
  void take(PeerId peer, Round round, std::vector<std::byte> state) {
    if (round == round_) states_[peer] = std::move(state);
  }
  /// Returns whether all have come; asked when no peer computes.
  bool whole() const {
    return round_ > 0 && std::ranges::none_of(states_, &std::vector<std::byte>::empty);
  }
  /// Returns them by peer, without the digests that a file has.
  std::vector<Checkpoint> checkpoints() const {
    std::vector<Checkpoint> all;
    for (PeerId i = 0; i < states_.size(); ++i)
      all.push_back({.fleet = {}, .model = {}, .peer = i, .round = round_, .state = states_[i]});
    return all;
  }

 private:
  Round round_;
  std::vector<std::vector<std::byte>> states_;  ///< by peer; empty: not yet
};

}  // namespace gv

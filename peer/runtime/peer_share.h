#pragma once

#include <functional>
#include <map>
#include <memory>

#include "gossip/message.h"
#include "optim/models/objective.h"

namespace gv {

/// The minibatches that a training-data server hands out: of each peer those that it would draw
/// from its own share, by number from 0 on.
class SampleSource {
 public:
  /// `objective`: of a peer that trains. `batch`: samples of one of its minibatches.
  SampleSource(std::function<std::unique_ptr<Objective>(PeerId)> objective,
               std::function<std::uint32_t(PeerId)> batch)
      : objective_(std::move(objective)), batch_(std::move(batch)) {}

  /// Packed. Nothing: so far ahead of what this peer had last that nobody asks so honestly. A peer
  /// that was restored or replaced may go back, and its order begins again.
  Payload minibatch(PeerId peer, std::uint64_t number);

 private:
  struct Stream {
    std::unique_ptr<Objective> objective;
    std::uint64_t next = 0;
  };
  std::function<std::unique_ptr<Objective>(PeerId)> objective_;
  std::function<std::uint32_t(PeerId)> batch_;
  std::map<PeerId, Stream> streams_;
};

}  // namespace gv

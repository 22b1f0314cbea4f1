#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "gossip/experience.h"
#include "gossip/seam/message.h"
#include "optim/models/objective.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// The minibatches of a training-data server: for each peer those that it would draw from its own
/// share, by number from 0 on.
class SampleSource {
 public:
  /// `objective` makes a training peer's objective; `batch` returns the size of its minibatches.
  SampleSource(std::function<std::unique_ptr<Objective>(PeerId)> objective,
               std::function<std::uint32_t(PeerId)> batch)
      : objective_(std::move(objective)), batch_(std::move(batch)) {}

  /// Returns the packed minibatch; null if the number is too far ahead for an honest request. A
  /// restored or replaced peer may go back: its order then begins again.
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

// The parts of actors and memories in a fleet of agents.

std::shared_ptr<ExperiencePart> memory_part(const Fleet& fleet, const Setup& setup, PeerId memory);
/// `start` is the first model of all peers; empty if it is drawn.
std::shared_ptr<ExperiencePart> actor_part(const Fleet& fleet,
                                           const Setup& setup,
                                           PeerId actor,
                                           std::vector<float> start);

}  // namespace gv

#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "gossip/channel.h"
#include "gossip/message.h"
#include "gossip/stage_plan.h"
#include "gossip/task.h"

// A chain is a number of peers that divide one network between them, each a stage of it. A
// minibatch goes through it in microbatches: Huang et al. 2019, "GPipe", arXiv:1811.06965.
// Per gradient each cut carries, in each direction, the values behind it once for each row.

namespace gv {

class Peer;

/// Thrown by a gradient whose chain has lost a stage: the algorithm ends without it, and takes no
/// step on half of one.
class ChainEnded : public std::exception {
 public:
  const char* what() const noexcept override { return "a stage of the chain has gone"; }
};

/// The gradients of a stage, together with the others of its chain. Invariant: all stages take part
/// in the same gradients in the same order, and each gradient is whole everywhere or nowhere, so
/// that the stages end with the same number of steps.
class Chain {
 public:
  explicit Chain(Peer& me) : me_(me) {}

  /// g <- this stage's part of the gradient at x over the next minibatch. Waits for the others as a
  /// collective does; throws ChainEnded when one of them has gone.
  Task<> gradient();
  /// The mean over the microbatches of that minibatch; of the last stage.
  double loss() const { return loss_; }

 private:
  Task<> forward(std::uint32_t k);
  Task<> backward(std::uint32_t k);
  Task<Payload> receive(PeerId from, Kind channel, std::uint32_t k);

  Peer& me_;
  std::uint64_t number_ = 0;  ///< of the gradient, since training began
  double loss_ = 0;
};

/// The stages before and behind peer i; ascending.
std::vector<PeerId> chain_links(const StagePlan& stage, PeerId i);
std::vector<Channel> chain_channels(const StagePlan& stage, PeerId i);

}  // namespace gv

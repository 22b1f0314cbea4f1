#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "gossip/seam/message.h"
#include "gossip/seam/stage.h"
#include "gossip/seam/task.h"
#include "optim/train/replica.h"

namespace gv {

// A chain is a group of peers that divide one network between them; each peer is a stage of the
// network. A minibatch goes through the chain in microbatches: Huang et al. 2019, "GPipe",
// arXiv:1811.06965. Or, as in Narayanan et al. 2019, "PipeDream", SOSP, minibatches follow each
// other without a flush, on weights that stage.h defines: gradient j is then the gradient of
// minibatch j, and later minibatches are already under way. Per gradient, each cut carries the
// values at the cut once for each row, in each direction. If a stage has copies
// (StagePlan::copies), each copy takes its own microbatches. A copy weighs its gradient so that the
// mean over the copies is the gradient of the whole minibatch.

class Peer;

/// Thrown by a gradient whose chain has lost a stage. The algorithm then ends without taking a step
/// on half a gradient.
class ChainEnded : public std::exception {
 public:
  const char* what() const noexcept override { return "a stage of the chain has gone"; }
};

/// Computes the gradients of a stage, together with the other stages of its chain. Invariant: all
/// stages take part in the same gradients in the same order, and each gradient is complete at all
/// stages or at none, so the stages end with the same number of steps. Without a flush a stage that
/// stops sends nothing more forward, notifies later stages, and leaves when everything is back.
class Chain {
 public:
  explicit Chain(Peer& me) : me_(me) {}

  /// g <- this stage's part of the gradient at x over the next minibatch. Waits for the others as a
  /// collective does; throws ChainEnded if a stage has gone.
  Task<> gradient();
  /// Returns the mean loss over this copy's microbatches of that minibatch; at the last stage.
  double loss() const { return loss_; }
  /// Returns the share of the minibatch that is in this copy's microbatches.
  double share() const;

  /// Lets no further minibatch go forward. Returns whether some are under way: then this stage is
  /// still needed, until drained().
  bool close();
  /// Returns how many minibatches without a flush are under way.
  std::uint64_t ahead() const;
  /// Returns whether the chain is closed and everything that went forward has come back.
  bool drained() const { return closed_ && next_ == number_; }

 private:
  struct Pass {
    std::uint64_t minibatch = 0;
    std::uint32_t microbatch = 0;
  };

  Task<> flushed();
  Task<> in_stream();
  Task<> forward(Pass pass);
  Task<> backward(Pass pass);
  /// Receives a stage's message of this pass. Returns null if nothing more comes from there.
  Task<Payload> receive(PeerId from, Kind channel, Pass pass);
  Vector weights(std::uint64_t minibatch);
  void say_closed();
  [[noreturn]] void end();

  Peer& me_;
  std::uint64_t number_ = 0;  ///< number of the gradient, since training began
  std::uint64_t next_ = 0;    ///< the first minibatch that has not gone forward
  bool closed_ = false;       ///< no further minibatch goes forward
  bool said_ = false;         ///< the next stage has been notified of that
  double loss_ = 0;
};

std::vector<Channel> chain_channels(const StagePlan& stage);

// Messages between the members of a stage, which divide its layers (StagePlan::members). Forward,
// each member sends the others its columns of a divided layer's output and continues with the
// columns of all members. Backward, each member has the whole gradient by the output and takes its
// own columns. Its rows yield a part of the sum that is the gradient by the layer's input; each
// member adds up the parts in the order of the members. So all members have the same bits in every
// value that they hold whole.
//
// Per divided layer, row and member 4 (t - 1) (out / t + in) bytes go out, with t members; the
// first layer of the network has no gradient by its input, and sends 4 (t - 1) out / t.

class Peer;

/// A microbatch on its way through the stage.
struct MemberPass {
  std::uint64_t minibatch = 0;
  std::uint32_t microbatch = 0;
};

/// Returns the output of the stage; null at the last stage. `flops`: work of the forward pass.
/// Throws ChainEnded if a member has gone.
Task<Payload> go_forward(Peer& me, MemberPass pass, Payload in, double flops);

/// Returns the gradient by the stage's input, given `out`, the gradient by its output. At the last
/// stage the loss is added to `loss`, which must outlive the task.
Task<Payload> go_back(Peer& me, MemberPass pass, Payload out, double flops, double& loss);

/// Returns whether a member may send this on the channels of a chain.
bool fits_member(
    const StagePlan& stage, Kind kind, PeerId from, std::uint32_t part, std::size_t bytes);
/// Returns the size of the longest message of a member, in bytes.
std::size_t most_member_bytes(const StagePlan& stage);

}  // namespace gv

#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "gossip/message.h"
#include "gossip/stage.h"
#include "gossip/task.h"
#include "optim/train/replica.h"

namespace gv {

// A chain is a number of peers that divide one network between them, each a stage of it. A
// minibatch goes through it in microbatches: Huang et al. 2019, "GPipe", arXiv:1811.06965. Or, as
// in Narayanan et al. 2019, "PipeDream", SOSP, minibatches follow each other without a flush, on
// weights that stage.h names: gradient j is then that of minibatch j, and those behind it
// are under way meanwhile.
// Per gradient each cut carries, in each direction, the values behind it once for each row.
// Where a stage has copies (StagePlan::copies), each has the microbatches that are its own, and a
// copy's gradient weighs them so that the mean of the copies' is that of the whole minibatch.

class Peer;

/// Thrown by a gradient whose chain has lost a stage: the algorithm ends without it, and takes no
/// step on half of one.
class ChainEnded : public std::exception {
 public:
  const char* what() const noexcept override { return "a stage of the chain has gone"; }
};

/// The gradients of a stage, together with the others of its chain. Invariant: all stages take part
/// in the same gradients in the same order, and each gradient is whole everywhere or nowhere, so
/// that the stages end with the same number of steps. Without a flush a stage that is to stop lets
/// nothing more go forward, which those behind it hear, and leaves when what was under way is back.
class Chain {
 public:
  explicit Chain(Peer& me) : me_(me) {}

  /// g <- this stage's part of the gradient at x over the next minibatch. Waits for the others as a
  /// collective does; throws ChainEnded when one of them has gone.
  Task<> gradient();
  /// The mean over this copy's microbatches of that minibatch; of the last stage.
  double loss() const { return loss_; }
  /// Returns how much of the minibatch they are.
  double share() const;

  /// No further minibatch goes forward. Returns whether some are under way: then this stage is
  /// still needed, until drained().
  bool close();
  /// Returns how many minibatches without a flush are under way.
  std::uint64_t ahead() const;
  /// Whether it is closed, and all that went forward has come back.
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
  /// What a stage sends of this pass; null: nothing more comes forward from there.
  Task<Payload> receive(PeerId from, Kind channel, Pass pass);
  Vector weights(std::uint64_t minibatch);
  void say_closed();
  [[noreturn]] void end();

  Peer& me_;
  std::uint64_t number_ = 0;  ///< of the gradient, since training began
  std::uint64_t next_ = 0;    ///< the first minibatch that has not gone forward
  bool closed_ = false;       ///< none goes forward any more,
  bool said_ = false;         ///< and the next stage has heard it
  double loss_ = 0;
};

/// Whom a stage passes microbatches to and from, and its other members; ascending.
std::vector<PeerId> chain_links(const StagePlan& stage);
std::vector<Channel> chain_channels(const StagePlan& stage);

// What the members of a stage, who divide its layers (StagePlan::members), tell each other of a
// microbatch. Forward each sends the others its columns of what a divided layer computes, and goes
// on with all of them; on the way back each has the whole gradient by those, takes its own columns,
// and what its rows add to the gradient by the layer's input is a part of a sum, which each adds up
// in the order of the members. So all have the same bits of whatever they have whole.
//
// Per divided layer, row and member 4 (t - 1) (out / t + in) bytes go out, of t members; the first
// layer of the network has no gradient by its input, and sends 4 (t - 1) out / t.

class Peer;

/// A microbatch on its way through the stage.
struct MemberPass {
  std::uint64_t minibatch = 0;
  std::uint32_t microbatch = 0;
};

/// Returns what comes out behind the stage; null at the last one. `flops`: of its way there. Throws
/// ChainEnded when a member has gone.
Task<Payload> go_forward(Peer& me, MemberPass pass, Payload in, double flops);

/// Does the same on the way back, of the gradient by what went out; at the last stage the loss is
/// added to `loss`, which outlives the task.
Task<Payload> go_back(Peer& me, MemberPass pass, Payload out, double flops, double& loss);

/// The members but this one; ascending.
std::vector<PeerId> other_members(const StagePlan& stage);
/// Returns whether this may come of a member on the channels of a chain.
bool fits_member(
    const StagePlan& stage, Kind kind, PeerId from, std::uint32_t part, std::size_t bytes);
/// The longest message of a member.
std::size_t most_member_bytes(const StagePlan& stage);

}  // namespace gv

#pragma once

#include <cstdint>
#include <memory>

#include "gossip/core.h"
#include "gossip/costs.h"
#include "gossip/exchange.h"
#include "gossip/loss_watch.h"
#include "gossip/pace.h"
#include "gossip/post.h"
#include "gossip/steady_watch.h"

namespace gv {

/// Tells the journal where the peer stands and what its model is worth: every so many rounds, or
/// every so many seconds of training, and at the end. Invariant: a loss, a batch and an intake
/// count in one report and no other.
class Reports {
 public:
  Reports(
      PeerCore& self, const Roster& roster, Post& post, const Pace& pace, const Exchange& exchange)
      : self_(self),
        post_(post),
        pace_(pace),
        exchange_(exchange),
        steady_(self, roster, post, pace, exchange) {}

  /// Adds minibatches that the peer trained on, and their mean loss or unknown_figure().
  void add_loss(double loss, double batches);
  /// Minibatches of others, whose loss is theirs.
  void add_batches(double batches) { batches_ += batches; }
  /// Tells the journal at the end of each round.
  void tell_round();
  /// Returns the costs of this life, up to now.
  Costs costs() const;

  /// Begins evaluations by time: they begin with the peer's life and end with its rounds.
  void begin();
  void end() { ticking_ = false; }
  /// Says that x is no model until resume(): an evaluation whose time comes meanwhile is made then.
  void pause() { paused_ = true; }
  void resume();
  /// Evaluates x as it is between two steps of the algorithm, which waits for it. `last`: the
  /// peer has stopped.
  Task<> evaluate(bool last);

 private:
  Report begin_report(bool last);
  std::vector<ClippedFlows> clipped() const;
  std::shared_ptr<Buffer> model_buffer();
  /// Copies and evaluates x, off the loop.
  void look(Buffer& model);
  void publish(Report report, Payload model);
  Time training_clock() const;
  void tick_later();
  void tick();
  std::uint64_t samples() const;  ///< trained on

  PeerCore& self_;
  Post& post_;
  const Pace& pace_;
  const Exchange& exchange_;
  SteadyWatch steady_;
  double loss_sum_ = 0;
  std::uint64_t losses_ = 0;
  LossWatch watch_;
  double batches_ = 0;       ///< minibatches trained on
  Post::Intake intake_;      ///< since the last report, the most
  std::uint64_t ticks_ = 0;  ///< periods of evaluation by time that are over
  bool ticking_ = false;
  bool paused_ = false;
  bool owed_ = false;     ///< a tick came while it was paused
  bool looking_ = false;  ///< the job of a tick has not ended
};

}  // namespace gv

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/core/core.h"
#include "gossip/core/pace.h"
#include "gossip/exchange/exchange.h"
#include "gossip/mail/post.h"
#include "gossip/seam/costs.h"
#include "gossip/seam/journal.h"

namespace gv {

/// Finds a peer whose rounds alone are faster than its rounds with a neighbour: more than twice ten
/// rounds, most of which were alone, in the usual time of ten. Rounds with a neighbour have the
/// pace of that neighbour and are not judged. The usual length of a round is the smallest mean
/// length of several rounds with a neighbour, so that it does not grow if the fleet becomes slower.
class PaceWatch {
 public:
  static constexpr std::size_t rounds = 10;  ///< number of rounds whose usual length is the window
  static constexpr std::size_t most_times =
      2;  ///< maximum number of rounds that may end within it, in multiples of `rounds`

  /// A round has ended. `company`: the round used a neighbour's message, or needed none. Returns
  /// the finding the first time.
  std::optional<RunAhead> see(Round round, Time now, bool company);
  const std::optional<RunAhead>& found() const { return found_; }

 private:
  struct End {
    Time at{0};
    bool alone = false;
  };
  void meet(Time now);
  bool too_fast() const;

  std::deque<Time> met_;       ///< ends of the last rounds with a neighbour
  std::optional<Time> usual_;  ///< see above; none if not known yet
  std::deque<End> ends_;       ///< ends of the newest rounds
  std::optional<RunAhead> found_;
};

/// Watches whether a peer keeps its pace, and whether each of its edges still carries flows.
class SteadyWatch {
 public:
  SteadyWatch(PeerCore& self,
              const Roster& roster,
              const Post& post,
              const Pace& pace,
              const Exchange& exchange)
      : self_(self),
        roster_(roster),
        post_(post),
        pace_(pace),
        exchange_(exchange),
        edges_(self.neighbors.size()) {}

  /// Called at the end of the present round, before the clock counts it.
  void end_round();
  const std::optional<RunAhead>& ran_ahead() const { return watch_.found(); }
  /// Returns the edges over which nothing has flowed for long, although the neighbour was there and
  /// did rounds of its own.
  std::vector<SilentEdge> silent() const;

 private:
  struct Edge {
    ExchangeNumber number{};
    bool flows = false;  ///< something has flowed over it
    Round since = 0;     ///< our round of the last flow
    Round rounds = 0;    ///< own rounds ended since then while the neighbour was here
    Round theirs = 0;    ///< its clock then
  };
  bool took_something();
  bool may_meet_somebody() const;
  void look_at_edges(const std::optional<Neighborhood>& row);

  PeerCore& self_;
  const Roster& roster_;
  const Post& post_;
  const Pace& pace_;
  const Exchange& exchange_;
  PaceWatch watch_;
  std::vector<Edge> edges_;
  std::uint64_t taken_ = 0;  ///< messages of neighbours taken until the last round
};

/// Finds a loss that rises so suddenly that training is not the cause: to a hundred times its
/// recent mean and ten times its maximum, in two successive minibatches, since a single one may
/// hold an unusual sample. Or a loss that is not finite.
class LossWatch {
 public:
  /// Takes the loss of a minibatch. Returns the rise when it is found for the first time.
  std::optional<LossRise> see(Round round, double loss) {
    // A loss of exactly 0 does not count: any other loss is more than a hundred times 0.
    if (first_ || loss == 0) return {};
    const bool known = seen_ >= least_seen;
    const bool high = loss > hundredfold * lately_ && loss > tenfold * greatest_;
    if (!std::isfinite(loss) || (known && high && std::exchange(suspected_, true))) {
      first_ = LossRise{.round = round, .from = lately_, .to = loss};
      return first_;
    }
    if (known && high) return {};
    suspected_ = false;
    ++seen_;
    lately_ += (std::abs(loss) - lately_) / std::min(seen_, remembered);
    greatest_ = std::max(greatest_, std::abs(loss));
    return {};
  }
  const std::optional<LossRise>& first() const { return first_; }

 private:
  static constexpr double hundredfold = 100, tenfold = 10;
  static constexpr double least_seen = 5, remembered = 20;  ///< minibatches

  double seen_ = 0;
  double lately_ = 0;    ///< mean of the recent ones
  double greatest_ = 0;  ///< maximum until now
  bool suspected_ = false;
  std::optional<LossRise> first_;
};

/// Reports the peer's state and its model's evaluation to the journal: at intervals of rounds or of
/// training time, and at the end. Invariant: each loss, batch and intake counts in exactly one
/// report.
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
  /// Adds minibatches of others, whose loss they report.
  void add_batches(double batches) { batches_ += batches; }
  /// Reports to the journal at the end of each round.
  void tell_round();
  /// Returns the costs of this life, up to now.
  Costs costs() const;

  /// Begins evaluations by time: they begin with the peer's life and end with its rounds.
  void begin();
  void end() { ticking_ = false; }
  /// x is no model until resume(): an evaluation that becomes due is made then.
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
  Post::Intake intake_;      ///< maxima since the last report
  std::uint64_t ticks_ = 0;  ///< periods of evaluation by time that are over
  bool ticking_ = false;
  bool paused_ = false;
  bool owed_ = false;     ///< a tick came while it was paused
  bool looking_ = false;  ///< the job of a tick has not ended
};

}  // namespace gv

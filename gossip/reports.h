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

#include "gossip/core.h"
#include "gossip/costs.h"
#include "gossip/exchange.h"
#include "gossip/journal.h"
#include "gossip/pace.h"
#include "gossip/post.h"
#include "gossip/roster.h"

namespace gv {

/// Finds a peer that ends its rounds alone faster than it did in company: more than twice ten
/// rounds, most of them alone, within the time of ten. Rounds in company have the pace of their
/// neighbours and are not judged. The usual length of a round is the
/// least mean of several in company so far, so that a fleet that has become slower changes nothing.
class PaceWatch {
 public:
  static constexpr std::size_t rounds = 10;  ///< number of rounds whose usual length is the window
  static constexpr std::size_t most_times =
      2;  ///< rounds that may end within it, in units of these

  /// A round has ended. `company`: a neighbour's message was taken in it, or it needed none.
  /// Returns the finding when it is made for the first time.
  std::optional<RunAhead> see(Round round, Time now, bool company);
  const std::optional<RunAhead>& found() const { return found_; }

 private:
  struct End {
    Time at{0};
    bool alone = false;
  };
  void meet(Time now);
  bool too_fast() const;

  std::deque<Time> met_;       ///< the ends of the last rounds in company
  std::optional<Time> usual_;  ///< see above; nothing if not known yet
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

  /// The present round has ended, which the clock does not count yet.
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
  std::uint64_t taken_ = 0;  ///< messages of neighbours, until the last round
};

/// Finds a loss that rises so much at once that training is not the cause: a hundredfold of what it
/// was lately and tenfold of what it has ever been, in two minibatches one after the other, since
/// one alone may hold a sample like no other. Or it is not finite.
class LossWatch {
 public:
  /// The loss of a minibatch. The rise, when it is found for the first time.
  std::optional<LossRise> see(Round round, double loss) {
    // A loss of exactly 0 does not count: every other one is more than a hundredfold of it.
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
  double lately_ = 0;    ///< the mean of what is remembered
  double greatest_ = 0;  ///< so far
  bool suspected_ = false;
  std::optional<LossRise> first_;
};

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

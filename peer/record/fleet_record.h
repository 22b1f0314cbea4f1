#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gossip/costs.h"
#include "gossip/journal.h"
#include "optim/models/objective.h"
#include "peer/fleet/specs.h"
#include "peer/record/joined_models.h"

namespace gv {

/// The aims to which the evaluations of a run are held, and what is done at its end.
struct Aims {
  std::optional<TargetSpec> target{};
  std::uint32_t patience = 0;  ///< evaluations without a better one that end the run; 0: none do
  bool keep_best = false;      ///< the model of the best evaluation is the run's, not the last one
  /// The objective that looks at the test set, where the run's evaluations do not; or null.
  std::function<std::unique_ptr<Objective>()> test{};
  /// Counts the frames that agent i has acted when it has learnt from so many samples; or null.
  std::function<std::uint64_t(std::uint32_t peer, std::uint64_t samples)> frames{};
  ModelJudge models{};  ///< of a fleet of chains; else each peer says what its own is worth
};

/// Says which evaluation was the best one, by the figure of the target, or else by the loss of the
/// fleet's model; and when too many have passed since then. L. Prechelt, "Early stopping - but
/// when?", Neural Networks: Tricks of the Trade, 1998: criterion UP, with any figure.
class ProgressWatch {
 public:
  explicit ProgressWatch(const Aims& aims);

  /// Returns what the figure is about: `value` and `in_a_row` say nothing.
  const TargetSpec& measure() const { return measure_; }
  /// Takes the next evaluation's figure; returns whether it beats every one before. One that is
  /// missing or not finite never is.
  bool see(std::optional<double> figure);
  /// Takes one of an earlier part of the run: a run that goes on has one more evaluation at least.
  void recall(std::optional<double> figure);
  std::optional<double> best() const { return best_; }
  bool out_of_patience() const { return patience_ > 0 && since_ >= patience_; }

 private:
  TargetSpec measure_;
  std::uint32_t patience_;
  std::optional<double> best_;
  std::uint32_t since_ = 0;
};

/// Says when a fleet has reached its target: once so many evaluations in a row are there.
class TargetWatch {
 public:
  explicit TargetWatch(std::optional<TargetSpec> target) : target_(target) {}

  /// The next evaluation's figure; nothing: it has none, which ends the row.
  void see(std::optional<double> figure) {
    if (!target_ || reached_) return;
    row_ = figure && target_->holds(*figure) ? row_ + 1 : 0;
    reached_ = row_ >= target_->in_a_row;
  }
  /// Takes one of an earlier part of the run: a run that goes on has one more evaluation at least.
  void recall(std::optional<double> figure) {
    see(figure);
    if (reached_) row_ = target_->in_a_row - 1;
    reached_ = false;
  }
  bool reached() const { return reached_; }
  const std::optional<TargetSpec>& target() const { return target_; }

 private:
  std::optional<TargetSpec> target_;
  std::uint32_t row_ = 0;
  bool reached_ = false;
};

struct FleetRecord;

/// What all peers of a run have cost, those among them that have died: what somebody has sent and
/// learnt from is not undone by its end. So the sums of a run never fall, whoever reports no more.
///
/// A successor that goes on from an old checkpoint, or from none, tells of less than its
/// predecessor did. It counts from where it has come further.
class FleetCosts {
 public:
  void take(const Report& report);
  /// Adds the sums to the record, to which nothing of them was added before. `frames`: see Aims.
  void add_to(FleetRecord& record, const decltype(Aims::frames)& frames) const;

 private:
  struct OfPeer {
    Costs costs{};
    bool trains = false;
    std::optional<ExperienceFigures> experience{};
  };

  std::map<PeerId, OfPeer> told_;
};

/// An edge whose two ends ended at different places: the flows between these are applied at one of
/// them only, so the mean of the fleet is not what its steps made it.
struct UnevenEdge {
  PeerId a = 0, b = 0;  ///< a < b
  EdgeEnd at_a, at_b;
};

/// An edge over which nothing flowed to the end, although both of its ends were there.
struct QuietEdge {
  PeerId a = 0, b = 0;  ///< a < b
  Round since = 0;      ///< the round of the last flow, at the end that did more rounds since then
  Round rounds = 0;     ///< rounds of this end while the other was here
};

/// Finds the uneven edges in the peers' last reports, ascending. An edge of which only one end
/// reports is none: the other one was lost, which is said elsewhere.
std::vector<UnevenEdge> uneven_edges(const std::map<PeerId, const Report*>& last);

/// Finds the edges that one end calls silent and whose other end reports as well, ascending.
std::vector<QuietEdge> quiet_edges(const std::map<PeerId, const Report*>& last);

/// The fleet at one round: what a line of metrics.jsonl says.
struct FleetRecord {
  Round round = 0;         ///< of evaluations by time: the mean of those that train, rounded down
  std::uint64_t tick = 0;  ///< of an evaluation by time: how many periods are over
  PeerId peers = 0;        ///< that train and reported; of chains: the models that are whole
  bool chains = false;     ///< whether chains of peers divide the models
  Time time{0};            ///< when the last of them did; virtual in `simulate`
  Evaluation mean;         ///< of the fleet's model: the mean of those that hold it (plan.h)
  bool validated = false;  ///< the evaluations here are of the validation set, not of the test set
  std::optional<Evaluation> test;  ///< of the final record: the saved model on the test set, where
                                   ///< the evaluations are of the validation set
  std::optional<Round> saved;  ///< of the final record: where the best model is saved, its round
  /// Mean minibatch loss since the last report, over the peers that had a minibatch since then;
  /// unknown_figure() if none had.
  double train_loss = 0;
  double loss_local = 0;                                ///< mean over local models
  std::optional<double> accuracy_min, accuracy_max;     ///< over local models
  double consensus = 0;                                 ///< (1/n) sum_i ||x_i - mean||^2
  std::map<PeerId, Time> longest_wait;                  ///< of each peer, for a neighbour's half
  std::map<PeerId, Round> passed_over;                  ///< rounds that each peer took no part in
  std::map<PeerId, std::vector<ClippedFlows>> clipped;  ///< by each peer
  std::vector<UnevenEdge> uneven;                       ///< of the final record
  std::map<PeerId, RunAhead> ran_ahead;                 ///< final record only
  std::vector<QuietEdge> quiet;                         ///< final record only, ascending
  std::map<PeerId, LossRise> loss_rises;                ///< of the minibatches of each peer
  std::optional<LossRise> loss_rise;  ///< of the fleet's model, the first until now
  Costs costs;                        ///< of all peers, the dead among them
  PeerId told = 0;                    ///< that train and are in `costs`
  /// `time` without evaluations and checkpoints: without what the peer that spent most on them did.
  Time training_time{0};
  /// The steps of all agents in their environments; their losses are minus their returns.
  std::optional<std::uint64_t> frames{};
  std::optional<ExperienceFigures> experience{};  ///< of all memories and actors of agents
  Round staleness = 0;    ///< of what a peer took since the record before, the greatest
  std::size_t queue = 0;  ///< messages that waited for one peer since then, the most

  /// Returns whether every exchange counted at both ends, no peer ran ahead of its pace, and no
  /// edge stayed silent.
  bool sound() const { return uneven.empty() && ran_ahead.empty() && quiet.empty(); }
};

/// Returns the figure that a target is about; nothing where the model has no such figure.
std::optional<double> figure_of(const FleetRecord& record, const TargetSpec& target);

/// XXH3-128 of what a run ended with; 32 hex digits each.
struct FinalHashes {
  std::string params;  ///< over the final replicas in id order
  /// The hash of the fleet's model in float32: methods that keep other replicas may agree in it.
  std::string model;
};

}  // namespace gv

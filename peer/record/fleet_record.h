#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gossip/seam/costs.h"
#include "gossip/seam/journal.h"
#include "optim/models/objective.h"
#include "peer/fleet/specs.h"
#include "peer/record/joined_models.h"

namespace gv {

/// Aims of a run: when its evaluations end it, and which model it keeps.
struct Aims {
  std::optional<TargetSpec> target{};
  std::uint32_t patience = 0;  ///< evaluations without improvement that end the run; 0: no limit
  bool keep_best = false;      ///< keep the model of the best evaluation, not of the last one
  /// Makes the objective on the test set, if the run's evaluations use a validation set; or null.
  std::function<std::unique_ptr<Objective>()> test{};
  /// Returns the frames that agent `peer` has acted after learning from `samples`; or null.
  std::function<std::uint64_t(std::uint32_t peer, std::uint64_t samples)> frames{};
  ModelJudge models{};  ///< judge of a fleet of chains; unused if peers evaluate their own model
};

/// Tracks the best evaluation, by the figure of the target or else by the loss of the fleet's
/// model, and how many evaluations have passed since then. L. Prechelt, "Early stopping - but
/// when?", Neural Networks: Tricks of the Trade, 1998: criterion UP, with any figure.
class ProgressWatch {
 public:
  explicit ProgressWatch(const Aims& aims);

  /// Returns which figure counts; `value` and `in_a_row` of the result are unused.
  const TargetSpec& measure() const { return measure_; }
  /// Takes the next evaluation's figure; returns whether it beats all before it. A missing or
  /// non-finite figure never does.
  bool see(std::optional<double> figure);
  /// Takes a figure of an earlier part of the run; a resumed run has at least one more evaluation.
  void recall(std::optional<double> figure);
  std::optional<double> best() const { return best_; }
  bool out_of_patience() const { return patience_ > 0 && since_ >= patience_; }

 private:
  TargetSpec measure_;
  std::uint32_t patience_;
  std::optional<double> best_;
  std::uint32_t since_ = 0;
};

/// Tracks whether a fleet has reached its target: `in_a_row` evaluations in a row that meet it.
class TargetWatch {
 public:
  explicit TargetWatch(std::optional<TargetSpec> target) : target_(target) {}

  /// Takes the next evaluation's figure; a missing one ends the row.
  void see(std::optional<double> figure) {
    if (!target_ || reached_) return;
    row_ = figure && target_->holds(*figure) ? row_ + 1 : 0;
    reached_ = row_ >= target_->in_a_row;
  }
  /// Takes a figure of an earlier part of the run; a resumed run has at least one more evaluation.
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

/// Sums of the costs of all peers of a run, dead ones included, because traffic and samples of a
/// peer that died stay spent. The sums of a run therefore never fall.
class FleetCosts {
 public:
  void take(const Report& report);
  /// Adds the sums to a record that has none yet. `frames`: see Aims.
  void add_to(FleetRecord& record, const decltype(Aims::frames)& frames) const;

 private:
  struct OfPeer {
    Costs costs{};
    bool trains = false;
    std::optional<ExperienceFigures> experience{};
  };

  std::map<PeerId, OfPeer> told_;
};

/// An edge whose two ends stopped at different exchanges. The flows in between were applied at one
/// end only, so the mean of the fleet is no longer the result of its steps alone.
struct UnevenEdge {
  PeerId a = 0, b = 0;  ///< a < b
  EdgeEnd at_a, at_b;
};

/// An edge over which nothing flowed at the end of the run, although both of its peers were there.
struct QuietEdge {
  PeerId a = 0, b = 0;  ///< a < b
  Round since = 0;      ///< round of the last flow, at the end that did more rounds since then
  Round rounds = 0;     ///< number of rounds that this end did while the other was here
};

/// Finds the uneven edges in the peers' last reports, ascending. Skips an edge that only one end
/// reports: the other peer was lost, which is reported elsewhere.
std::vector<UnevenEdge> uneven_edges(const std::map<PeerId, const Report*>& last);

/// Finds the edges that one end reports as silent and whose other end sent a report too, ascending.
std::vector<QuietEdge> quiet_edges(const std::map<PeerId, const Report*>& last);

/// The fleet at one round: the contents of a line of metrics.jsonl.
struct FleetRecord {
  Round round = 0;  ///< evaluations by time: mean round of the peers that train, rounded down
  std::uint64_t tick = 0;  ///< evaluations by time: number of periods that have passed
  PeerId peers = 0;     ///< peers that train and reported; with chains: number of complete models
  bool chains = false;  ///< chains of peers divide the models
  Time time{0};         ///< time of the last report; virtual in `simulate`
  Evaluation mean;  ///< figures of the fleet's model: the mean over the peers that hold it (plan.h)
  bool validated = false;  ///< evaluations use the validation set, not the test set
  /// Final record only: the saved model on the test set, if evaluations use the validation set.
  std::optional<Evaluation> test;
  std::optional<Round> saved;  ///< final record only: round of the best model, if that is saved
  /// Mean minibatch loss since the last report, over the peers that had a minibatch since then;
  /// unknown_figure() if no peer had one.
  double train_loss = 0;
  double loss_local = 0;                                ///< mean over local models
  std::optional<double> accuracy_min, accuracy_max;     ///< over local models
  double consensus = 0;                                 ///< (1/n) sum_i ||x_i - mean||^2
  std::map<PeerId, Time> longest_wait;                  ///< per peer, for a neighbour's half
  std::map<PeerId, Round> passed_over;                  ///< number of rounds that each peer skipped
  std::map<PeerId, std::vector<ClippedFlows>> clipped;  ///< keyed by the peer that clipped
  std::vector<UnevenEdge> uneven;                       ///< final record only
  std::map<PeerId, RunAhead> ran_ahead;                 ///< final record only
  std::vector<QuietEdge> quiet;                         ///< final record only, ascending
  std::map<PeerId, LossRise> loss_rises;                ///< minibatch losses, per peer
  std::optional<LossRise> loss_rise;                    ///< first rise of the fleet's loss
  Costs costs;                                          ///< sum over all peers, dead ones included
  PeerId told = 0;  ///< number of peers that train and count in `costs`
  /// `time` minus evaluations and checkpoints, at the peer that spent most on them.
  Time training_time{0};
  /// Environment steps of all agents, whose losses are minus their returns.
  std::optional<std::uint64_t> frames{};
  std::optional<ExperienceFigures> experience{};  ///< sum over all memories and actors of agents
  Round staleness = 0;    ///< greatest staleness of a message since the previous record
  std::size_t queue = 0;  ///< most messages that waited for one peer since then

  /// Returns whether every exchange counted at both ends, no peer ran ahead of its pace, and no
  /// edge stayed silent.
  bool sound() const { return uneven.empty() && ran_ahead.empty() && quiet.empty(); }
};

/// Returns the figure that the target names, or nothing if the model has no such figure.
std::optional<double> figure_of(const FleetRecord& record, const TargetSpec& target);

/// XXH3-128 hashes of a run's final state; 32 hex digits each.
struct FinalHashes {
  std::string params;  ///< hash over the final replicas in id order
  /// Hash of the fleet's model in float32; methods that keep different replicas may agree in it.
  std::string model;
};

}  // namespace gv

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gossip/journal.h"
#include "optim/models/objective.h"
#include "peer/record/aims.h"
#include "peer/record/uneven_edges.h"

namespace gv {

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

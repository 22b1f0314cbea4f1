#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gossip/algorithm.h"
#include "graph/mixing/mixing.h"
#include "optim/train/replica.h"
#include "peer/fleet/fleet.h"
#include "peer/record/fleet_record.h"
#include "peer/runtime/division.h"
#include "peer/runtime/make_replica.h"
#include "peer/runtime/program_model.h"

namespace gv {

struct FoundErrors;

/// A fleet with everything made that can be made before it starts: data loaded and divided, the
/// graph built, rounds counted. Shared by `run`, `peer`, `simulate` and `plan`, so that all of them
/// mean the same run.
class Assembly {
 public:
  /// Throws FleetError where data and file disagree (missing or damaged files, more peers than
  /// samples, ...).
  /// `only`: for the process of this peer, which reads no table of another one (`{id}`).
  /// `program`: what the programs of the fleet train, instead of its model and data, where
  /// each of them is its own process. Their replicas are not made here.
  explicit Assembly(Fleet fleet,
                    std::optional<PeerId> only = std::nullopt,
                    std::optional<ProgramModel> program = std::nullopt);

  const Fleet fleet;
  const ChainMap chains;  ///< of those that train: which part of which model each has
  const AlgorithmRow* algorithm = nullptr;
  std::shared_ptr<const Setup> setup;  ///< what its method knows of it
  Topology topology;                   ///< of a schedule: all its links
  std::optional<MixingMatrix> w;  ///< empty when there is a schedule, push-sum or shares instead
  /// Of each model, n times its weight in the mean that W keeps; empty: all count alike.
  std::vector<double> shares;
  std::shared_ptr<const MixingSchedule> schedule;  ///< W of every round; null: always w
  TrainTest data;                                  ///< null pointers for quadratic and agent
  std::shared_ptr<const Dataset> validation;       ///< null where the fleet has none
  Partition partition;                             ///< empty for quadratic and agent
  std::optional<Division> division;                ///< of the models that chains divide
  Round rounds =
      0;  ///< the last round; the largest number when only time or a target stops the run
  Round evaluate_every = 0;  ///< rounds; 0: only at the end, or by time (Fleet::evaluate_period)
  std::vector<Parameter> parameters;
  TensorOrders orders{};      ///< of a program's tensors; empty: all as their shapes
  std::size_t dimension = 0;  ///< d
  std::vector<float> start;   ///< x_0 of `model.start`; empty: it is drawn
  /// The digest of the parameters' names and shapes, and of names in a user's data; 32 hex digits.
  std::string model_digest;

  Plan plan(PeerId i) const;
  /// Returns what averaging carries and moves.
  Traffic traffic() const;
  /// Lists what peer i talks on beside averaging. `part`: what it does for agents, if under way.
  std::vector<Channel> channels(PeerId i,
                                std::shared_ptr<const ExperiencePart> part = nullptr) const;
  /// Returns whether its programs may do something together beside the method.
  bool has_verbs() const { return !verb_trees_.empty(); }
  /// Returns whether this is D-PSGD as in its paper, of which the mathematics of graphs says all.
  bool is_plain_d_psgd() const;
  Algorithm work_of(PeerId i) const;
  /// Returns whom it hears of in averaging, by its own row; of a schedule, its links.
  Neighborhood neighborhood(PeerId i) const;
  std::size_t size_of(PeerId i) const;  ///< of peer i's vector: d, or a server's part of it
  /// Makes it on the peer's own device, see device_of. Throws std::runtime_error when it is not
  /// there. Null: a program's, which it has itself.
  std::unique_ptr<Replica> replica(PeerId i) const;
  /// Peer 0's on a device and with a batch of one's own, to be measured.
  std::unique_ptr<Replica> replica_on(const Device& device, std::uint32_t batch) const;
  /// Makes it on the CPU, whatever the file says: the simulator's.
  std::unique_ptr<Replica> host_replica(PeerId i) const;
  /// Peer i's own, its minibatches from the beginning. A server's has no gradient.
  std::unique_ptr<Objective> objective(PeerId i) const;
  /// Evaluates any x of length d (the mean model): what it measures of training data (the moments
  /// of batch norms), it measures on everybody's; of a quadratic, on peer 0's.
  std::unique_ptr<Objective> evaluator() const;
  /// The set that evaluations look at: the validation set where there is one, or else the test set.
  const std::shared_ptr<const Dataset>& looked_at() const {
    return validation ? validation : data.test;
  }
  /// Returns how many whole models so many of its peers have, in the mean.
  double models_held(double peers) const;
  /// Returns whether the others go on when a chain loses a stage: if no collective needs them all.
  bool does_without_chains() const {
    return chains.peers() > 1 && fleet.models() > 1 && algorithm->promise != Promise::agreement;
  }
  /// Returns what the fleet file asks of its evaluations. The objective of the test set reads this.
  Aims aims() const;

 private:
  std::shared_ptr<const Setup> setup_for(PeerId i) const;
  StagePlan placed(PeerId i) const;
  std::vector<PeerId> alike(PeerId i) const;
  std::optional<StagePlan> stage(PeerId i) const;
  Time under_way(PeerId i) const;
  ModelJudge model_judge() const;
  void make_mixing();
  void take_shares();
  void take_push_weights();
  void make_verb_trees();
  void load_parts(std::optional<PeerId> only);
  void take_program(ProgramModel model);
  void count_rounds();
  void load_start();
  std::vector<float> start_of(PeerId i) const;
  void count_samples();
  Share share(PeerId i) const;
  Share everybodys_share() const;
  Holding holds(PeerId i) const;
  void check_flows() const;
  void check_attackers() const;
  void check_samples() const;
  void check_own_tables() const;
  std::size_t most_samples_bytes() const;
  bool serves_samples(PeerId i) const;  ///< or acts
  bool acts(PeerId i) const;
  void check_program() const;
  std::vector<PeerId> links(PeerId i) const;
  std::function<Payload(PeerId, std::uint64_t)> samples_of(PeerId i) const;
  std::shared_ptr<ExperiencePart> experience(PeerId i) const;
  void check_cuts() const;
  OptimizerSpec optimizer(PeerId i) const;
  std::unique_ptr<Objective> honest_objective(PeerId i) const;
  std::unique_ptr<Objective> whole_objective(PeerId i) const;
  std::unique_ptr<Objective> plain_objective(PeerId i) const;
  ReplicaParts parts(PeerId i) const;
  bool trains_elsewhere_ = false;  ///< programs do
  double program_flops_ = 0;       ///< see ProgramModel
  OptimizerSpec optimizer_;
  QuadraticOptimum optimum_;
  /// The errors by peer that learns, where actors act: from its replica to what it sends.
  std::vector<std::shared_ptr<FoundErrors>> judged_;
  std::vector<double> push_weights_;                         ///< of push-sum: least_weights()
  std::vector<Neighborhood> rows_;                           ///< of push-sum and of shares
  std::shared_ptr<const MixingSchedule> schedule_of_peers_;  ///< `schedule`, where it is of models
  std::vector<VerbTree>
      verb_trees_;  ///< by peer; empty: no programs train here, or they have no links
};

}  // namespace gv

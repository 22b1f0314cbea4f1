#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gossip/algorithm.h"
#include "graph/mixing/mixing.h"
#include "optim/train/replica.h"
#include "peer/fleet/fleet.h"
#include "peer/record/fleet_record.h"
#include "peer/runtime/assembly/division.h"
#include "peer/runtime/assembly/program_model.h"

namespace gv {

/// The device of a replica: the CPU or a CUDA device.
struct Device {
  bool cuda = false;
  int number = 0;  ///< index of the CUDA device
  /// Sleeps while it waits for the device, which frees the core; spinning would see the end sooner.
  bool sleeps = false;

  bool operator==(const Device&) const = default;
};

std::string to_string(const Device& device);  ///< "cpu", "cuda:0"

/// The place of a peer among the peers of its machine.
struct AmongPeers {
  std::size_t place = 0;  ///< number of earlier peers without a device number
  std::size_t peers = 1;  ///< all peers of the machine, on any device
};
AmongPeers among_peers(const Fleet& fleet, PeerId i);

/// The devices and cores that a machine has.
struct MachineParts {
  std::size_t devices = 0;  ///< CUDA devices
  unsigned cores = 1;
};

/// Returns the device that a fleet file's word means for a peer. `cuda` spreads peers evenly over
/// the CUDA devices; so does `auto` if there is one, else it is the CPU. Peers sleep in waits for a
/// device if they are more than half as many as cores. Throws std::runtime_error if CUDA is
/// missing.
Device choose_device(const std::string& word, const AmongPeers& among, const MachineParts& here);
/// Returns the device of peer i on this machine.
Device device_of(const Fleet& fleet, PeerId i);

/// Checks before the start whether this machine has the peers' devices; throws std::runtime_error
/// with a remedy if not. Returns notes for the user: that `auto` means the CPU.
std::vector<std::string> check_devices(const Fleet& fleet, const std::vector<PeerId>& peers);

/// The parts of a replica, on any device.
struct ReplicaParts {
  ModelSpec model;
  Share share;                                            ///< without data for the quadratic
  std::function<std::unique_ptr<Objective>()> objective;  ///< for the CPU
  OptimizerSpec optimizer;
  std::uint32_t batch = 1;
  Rng init;
  std::vector<float> start{};             ///< first x; empty to draw it by `init`
  Precision precision = Precision::fp32;  ///< for CUDA
};

/// The one place that decides between the CPU and CUDA.
std::unique_ptr<Replica> make_replica(const Device& device, const ReplicaParts& parts);

struct FoundErrors;

/// A fleet with everything that can be made before it starts: data loaded and divided, the graph
/// built, rounds counted. `run`, `peer`, `simulate` and `plan` share it, to mean the same run.
class Assembly {
 public:
  /// Throws FleetError if data and file disagree (missing or damaged files, more peers than
  /// samples, ...). `only` is set in the process of this peer, which reads no table of another one
  /// (`{id}`). `program` is what the fleet's programs train, instead of its model and data, if each
  /// is its own process; their replicas are not made here.
  explicit Assembly(Fleet fleet,
                    std::optional<PeerId> only = std::nullopt,
                    std::optional<ProgramModel> program = std::nullopt);

  const Fleet fleet;
  const ChainMap chains;  ///< the part of which model each training peer has
  const AlgorithmRow* algorithm = nullptr;
  std::shared_ptr<const Setup> setup;  ///< the method's view of the fleet
  Topology topology;                   ///< with a schedule, all its links
  std::optional<MixingMatrix> w;       ///< empty with a schedule, push-sum or shares
  /// n times the weight of each model in the mean that W keeps; empty if all weights are equal.
  std::vector<double> shares;
  std::shared_ptr<const MixingSchedule> schedule;  ///< W of every round; null if always w
  TrainTest data;                                  ///< null pointers for quadratic and agent
  std::shared_ptr<const Dataset> validation;       ///< null if the fleet has none
  Partition partition;                             ///< empty for quadratic and agent
  std::optional<Division> division;                ///< division of the models into stages
  Round rounds = 0;  ///< the last round; the largest number if only time or a target stops the run
  Round evaluate_every = 0;  ///< rounds; 0 for only at the end, or by time (evaluate_period)
  std::vector<Parameter> parameters;
  TensorOrders orders{};      ///< order of a program's tensors; empty if as in their shapes
  std::size_t dimension = 0;  ///< d
  std::vector<float> start;   ///< x_0 of `model.start`; empty if it is drawn
  /// Digest of the parameters' names and shapes, and of names in a user's data; 32 hex digits.
  std::string model_digest;

  Plan plan(PeerId i) const;
  /// Returns the vectors that averaging carries and moves.
  Traffic traffic() const;
  /// Lists the channels of peer i, other than averaging. `part` is its work for agents, if running.
  std::vector<Channel> channels(PeerId i,
                                std::shared_ptr<const ExperiencePart> part = nullptr) const;
  /// Returns whether the fleet's programs may run collective verbs of their own.
  bool has_verbs() const { return !verb_trees_.empty(); }
  /// Returns whether this is D-PSGD as in its paper, to which the theory of graphs applies fully.
  bool is_plain_d_psgd() const;
  Algorithm work_of(PeerId i) const;
  /// Returns the peers that it averages with, by its own row; with a schedule, all its links.
  Neighborhood neighborhood(PeerId i) const;
  std::size_t size_of(PeerId i) const;  ///< length of peer i's vector: d, or a server's part
  /// Makes the replica on the peer's own device, see device_of. Throws std::runtime_error if the
  /// device is missing. Null for a program, which has its own.
  std::unique_ptr<Replica> replica(PeerId i) const;
  /// Makes a replica like peer 0's, with this device and batch, for measurements.
  std::unique_ptr<Replica> replica_on(const Device& device, std::uint32_t batch) const;
  /// Makes the simulator's replica, on the CPU regardless of the file's device.
  std::unique_ptr<Replica> host_replica(PeerId i) const;
  /// Returns peer i's own objective, at its first minibatch. A server's has no gradient.
  std::unique_ptr<Objective> objective(PeerId i) const;
  /// Evaluates any x of length d (the mean model). Statistics of training data (the moments of
  /// batch norms) are over the data of all peers; for a quadratic, of peer 0.
  std::unique_ptr<Objective> evaluator() const;
  /// The set of evaluations: the validation set if there is one, else the test set.
  const std::shared_ptr<const Dataset>& looked_at() const {
    return validation ? validation : data.test;
  }
  /// Returns the mean number of whole models on this number of its peers.
  double models_held(double peers) const;
  /// Returns whether the others continue if a chain loses a stage: if no collective needs all.
  bool does_without_chains() const {
    return chains.peers() > 1 && fleet.models() > 1 && algorithm->promise != Promise::agreement;
  }
  /// Returns the fleet file's aims of evaluations. The test set's objective uses this Assembly.
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
  bool serves_samples(PeerId i) const;  ///< also true for actors
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
  bool trains_elsewhere_ = false;  ///< true if programs train
  double program_flops_ = 0;       ///< see ProgramModel
  OptimizerSpec optimizer_;
  QuadraticOptimum optimum_;
  /// Errors by learner, if there are actors: from its replica to its messages.
  std::vector<std::shared_ptr<FoundErrors>> judged_;
  std::vector<double> push_weights_;                         ///< push-sum: least_weights()
  std::vector<Neighborhood> rows_;                           ///< rows of push-sum and of shares
  std::shared_ptr<const MixingSchedule> schedule_of_peers_;  ///< `schedule`, spread to peers
  std::vector<VerbTree> verb_trees_;  ///< by peer; empty without programs here, or without links
};

}  // namespace gv

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gossip/link/link_settings.h"
#include "gossip/plan.h"
#include "gossip/setup.h"
#include "gossip/world.h"
#include "graph/schedule/schedule.h"
#include "graph/topology/family.h"
#include "optim/models/model.h"
#include "optim/precision.h"
#include "optim/rl/acting.h"
#include "optim/train/optimizer.h"
#include "peer/fleet/data/data_spec.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/specs.h"

namespace gv {

struct ModelProfile;

struct PeerSpec {
  std::string host = "localhost";
  std::string device = "cpu";  ///< auto | cpu | cuda[:k]
  int threads = 1;             ///< compute threads
  std::uint32_t batch = 32;
  Precision precision = Precision::fp32;  ///< of its arithmetic on CUDA
  double speed = 1;  ///< relative compute speed: for the simulator, and for batches in proportion
};

struct HostSpec {
  std::string name;
  /// The place where its peers are found; "": found out by `run`, and the host's name for peers
  /// that are started by hand.
  std::string address{};
  std::uint16_t port =
      0;  ///< base port; peer i of this host listens on port + its index there; 0: any free one
  std::string ssh{};         ///< what ssh is given; "": the host's name
  std::string interface {};  ///< whose addresses alone are taken; "": any
  std::string binary{};      ///< the program as it is installed there; "": see Fleet::push
  std::string data{};        ///< the folder there that holds the fleet's data; "": as it is here
  std::string folder{};      ///< in which `program` runs there; "": where its peers do
};

/// `train.class_weights`: what the loss of a training sample is multiplied by.
struct ClassWeights {
  bool balanced = false;                  ///< samples / (classes x samples of the class)
  std::map<std::string, double> named{};  ///< of these classes; 1 of the others

  bool any() const { return balanced || !named.empty(); }
};

struct StopSpec {
  std::optional<std::uint64_t> rounds;
  std::optional<double> epochs;
  std::optional<Time> time;
  std::optional<TargetSpec> target;
  std::uint32_t patience = 0;  ///< evaluations in a row without a better one; 0: without end
};

/// Says when a neighbour counts as away, and how many peers must live for the run to go on.
struct FaultSpec {
  Time heartbeat = LinkTimes{}.heartbeat;
  Time dead_after = LinkTimes{}.dead_after;
  Time deadline = usual_deadline;  ///< for a neighbour's half in a round; 0: none
  /// The time for one job of a peer's own arithmetic; then it ends itself. 0: never.
  Time stuck_after{std::chrono::minutes(10)};
  /// Returns the time for a neighbour that is away at the end of a run: until it has noticed as
  /// well, and for two dials whose handshakes get lost.
  Time patience() const { return 2 * dead_after + std::chrono::milliseconds(2500); }
  std::uint32_t min_peers = 1;
  bool ledger = false;              ///< each peer keeps the book of its exchanges, for an audit
  std::vector<Injection> inject{};  ///< by time
};

/// The last peers of those that train attack the averaging of the others.
struct AttackersSpec {
  PeerId count = 0;
  std::string kind = "sign-flip";
  double strength = 1;
};

/// The states that each peer keeps to go on from.
struct CheckpointSpec {
  std::uint64_t every = 0;  ///< rounds; 0: never
  std::uint32_t keep = 2;
};

/// The record that each peer writes of where its time goes.
struct RecordSpec {
  bool on = true;
  std::uint32_t rows = 1024;  ///< of rounds, at most
  bool moments = true;        ///< every interval of some rounds
};

/// A fleet file, read strictly and resolved: every key that the file leaves out has its default,
/// every quantity is in SI units, paths of data and graphs begin with the file's folder. What is
/// here is valid; read_fleet says what is refused.
struct Fleet {
  std::string path;  ///< of the file, as given
  std::string name = "fleet";
  std::uint64_t seed = 1;
  std::vector<HostSpec> hosts;
  std::vector<PeerSpec> peers;             ///< those that train, then those that serve
  PeerId servers = 0;                      ///< so many of them serve,
  PeerId data_servers = 0;                 ///< so many behind those hand out samples,
  PeerId actors = 0;                       ///< and so many behind these act for agents
  std::optional<ParallelSpec> parallel{};  ///< chains of peers divide each model
  std::optional<ProgramSpec> program{};    ///< then data and model are of kind `program`
  std::optional<AgentSpec> agent{};        ///< where the data are an environment
  DataSpec data;
  ModelSpec model;
  std::string start{};          ///< model.start: whose tensors training begins with; "": drawn
  std::string start_content{};  ///< 32 hex digits of that file
  ClassWeights class_weights{};
  /// train.peer_weights: samples. The gradients of each peer count by how many samples it has.
  bool by_samples = false;
  OptimizerSpec optimizer;  ///< schedule.total and .peers are filled in for each peer when the run
                            ///< is assembled
  std::uint32_t local_steps = 1;  ///< of a peer in a round; where they are unequal the mean
  /// `train.local_steps: auto`: of each that trains, in proportion to its speed; empty: all alike.
  std::vector<std::uint32_t> own_steps{};
  std::string plugin_content{};  ///< 32 hex digits of what `plugin` names; "": nothing
  std::string algorithm = "d-psgd";
  std::string order;             ///< "" takes the algorithm's first
  Settings settings;             ///< its options; those that are not there have their usual values
  std::optional<Codec> codec{};  ///< of what travels; none: floats
  AttackersSpec attackers;
  std::optional<double> clip{};  ///< robust.clip: see Setup::clip
  TopologySpec topology;
  std::string weights = "metropolis";
  std::optional<ScheduleSpec>
      schedule;               ///< W of every round; topology and weights say nothing then
  std::string mixing_digest;  ///< of W, or of the graph file under a schedule (see digest.h)
  NetworkSpec network;
  SecuritySpec security{};
  /// simulate.profile: measured seconds of what chains divide; null: none.
  std::shared_ptr<const ModelProfile> profile{};
  std::string profile_content{};  ///< 32 hex digits of that file
  double flops = 50e9;            ///< `simulate: { flops: 50 GFLOP/s }`: speed of a peer of speed 1
  StopSpec stop;
  FaultSpec faults;
  CheckpointSpec checkpoint;
  std::uint64_t evaluate_every =
      0;  ///< rounds; 0: only at the end (evaluate.every in epochs is resolved later)
  std::optional<double> evaluate_every_epochs;
  std::string evaluate_device = "cpu";  ///< of the program that evaluates the fleet's model
  Time evaluate_period{0};              ///< by the training clock instead; 0: by rounds
  std::string output_dir;               ///< with the fleet's name instead of {name}
  bool keep_best = false;  ///< output.save: the model of the best evaluation, not of the last round
  Time grace{std::chrono::seconds(8)};  ///< launch.grace
  bool restart = false;                 ///< launch.restart: on-failure
  /// launch.leash: after such a silence a host and its launcher give each other up.
  Time leash{std::chrono::seconds(15)};
  bool push = true;  ///< launch.binary: this program is copied to hosts that have none
  bool push_data =
      false;  ///< launch.data: push; the data are sent to the hosts with the fleet file
  std::string launch_with = "auto";  ///< launch.with: auto | local | ssh | slurm
  RecordSpec record;
  std::string digest;  ///< 32 hex digits of XXH3-128 over the resolved, sorted values: the identity
                       ///< of the run

  PeerId size() const { return static_cast<PeerId>(peers.size()); }
  PeerId trainers() const { return size() - servers - data_servers - actors; }
  /// Counts the stages of each model; 1: no peer has a part of one.
  PeerId stages() const { return parallel ? parallel->stages : 1; }
  /// Says which of those that train has which part of which model.
  ChainMap chains() const { return parallel ? parallel->chains() : ChainMap(); }
  /// Models that are trained: the vertices of the graph, and the parts of the data.
  PeerId models() const { return trainers() / chains().peers(); }
  /// Returns the one of its peers' batches that each model is trained on.
  std::uint32_t batch_of(PeerId model) const { return peers[chains().counterpart(0, model)].batch; }
};

/// Reads the file, applies `sets` ("train.optimizer.lr=0.05"), checks everything that can be
/// checked without loading data: throws FleetError. Notices (not errors, e.g. data that falls back)
/// are appended to `notices`.
Fleet read_fleet(const std::string& path,
                 const std::vector<std::string>& sets,
                 std::vector<std::string>* notices);
/// Does the same for a text that is in no file.
Fleet read_fleet_text(const std::string& text);

/// The keys that the readers ask a fleet file for, whether it has them or not, by their paths:
/// "train.optimizer.lr"; of a list's items "peers.host". Which they are depends on what the file
/// says: only a `dirichlet` partition asks for `data.partition.alpha`. Throws FleetError like
/// read_fleet.
std::set<std::string> asked_keys(const std::string& path);

/// The mark of a fleet file that a run's folder names. Another person may have made that folder, so
/// nothing runs that the file names, unless the user says --trust.
struct Untrusted {
  std::string folder;  ///< of the run
  /// Keys whose values the caller would run. Reading a fleet loads `plugin` at once.
  std::vector<std::string> code{"plugin", "program"};
};

/// Reads a fleet as read_fleet does, but throws FleetError with the line of each key in
/// `untrusted.code` that the file or `sets` have, before any of them acts.
Fleet read_untrusted_fleet(const std::string& path,
                           const std::vector<std::string>& sets,
                           std::vector<std::string>* notices,
                           const Untrusted& untrusted);

}  // namespace gv

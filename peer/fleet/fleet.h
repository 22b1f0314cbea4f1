#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gossip/link/link_settings.h"
#include "gossip/seam/plan.h"
#include "gossip/seam/setup.h"
#include "gossip/seam/world.h"
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
  int threads = 1;             ///< number of compute threads
  std::uint32_t batch = 32;
  Precision precision = Precision::fp32;  ///< precision of its arithmetic on CUDA
  double speed = 1;  ///< relative compute speed, for the simulator and `batch: auto`
};

struct HostSpec {
  std::string name;
  /// Address of its peers. If empty: `run` finds one; peers started by hand use the host's name.
  std::string address{};
  std::uint16_t port = 0;    ///< base port: the host's peer i listens on port + i; 0: any free port
  std::string ssh{};         ///< destination for ssh, or "" for the host's name
  std::string interface {};  ///< the only network interface to use, or "" for any
  std::string binary{};      ///< path of the installed program there, or "" (see Fleet::push)
  std::string data{};    ///< folder there with the fleet's data, or "" for the same paths as here
  std::string folder{};  ///< working folder of `program` there, or "" for the peers' folder
};

/// `train.class_weights`: factor of the loss of a training sample, by its class.
struct ClassWeights {
  bool balanced = false;                  ///< samples / (classes x samples of the class)
  std::map<std::string, double> named{};  ///< factors by class name; other classes have 1

  bool any() const { return balanced || !named.empty(); }
};

struct StopSpec {
  std::optional<std::uint64_t> rounds;
  std::optional<double> epochs;
  std::optional<Time> time;
  std::optional<TargetSpec> target;
  std::uint32_t patience = 0;  ///< evaluations in a row without a better one; 0: no limit
};

/// Time limits for neighbours, and the number of peers that must live for the run to continue.
struct FaultSpec {
  Time heartbeat = LinkTimes{}.heartbeat;
  Time dead_after = LinkTimes{}.dead_after;
  Time deadline = usual_deadline;  ///< maximum wait for a neighbour's half in a round; 0: none
  /// Maximum time of one arithmetic job of a peer, which then ends itself. 0: no limit.
  Time stuck_after{std::chrono::minutes(10)};
  /// Returns how long to wait for a neighbour that is away at the end of a run: until it has
  /// noticed as well, plus two dials whose handshakes are lost.
  Time patience() const { return 2 * dead_after + std::chrono::milliseconds(2500); }
  std::uint32_t min_peers = 1;
  bool ledger = false;              ///< each peer records its exchanges for an audit
  std::vector<Injection> inject{};  ///< faults to inject, by time
};

/// Attackers of the averaging: the last `count` peers that train.
struct AttackersSpec {
  PeerId count = 0;
  std::string kind = "sign-flip";
  double strength = 1;
};

/// Checkpoints that each peer keeps to resume from.
struct CheckpointSpec {
  std::uint64_t every = 0;  ///< rounds between checkpoints; 0: none
  std::uint32_t keep = 2;
};

/// Record of how each peer spends its time.
struct RecordSpec {
  bool on = true;
  std::uint32_t rows = 1024;  ///< maximum number of rows of rounds
  bool moments = true;        ///< record every interval of some rounds
};

/// A validated fleet file, as read_fleet returns it: missing keys have their defaults, quantities
/// are in SI units, and paths of data and graphs begin with the file's folder.
struct Fleet {
  std::string path;  ///< path of the file, as given
  std::string name = "fleet";
  std::uint64_t seed = 1;
  std::vector<HostSpec> hosts;
  std::vector<PeerSpec> peers;  ///< peers that train, then those that serve
  PeerId servers = 0;           ///< number of model servers, placed after the trainers
  PeerId data_servers = 0;      ///< number of data servers, placed after the model servers
  PeerId actors = 0;            ///< number of agents' actors, placed after the data servers
  std::optional<ParallelSpec> parallel{};  ///< set if chains of peers divide each model
  std::optional<ProgramSpec> program{};    ///< if set, data and model are of kind `program`
  std::optional<AgentSpec> agent{};        ///< set if the data are an environment
  DataSpec data;
  ModelSpec model;
  std::string start{};  ///< model.start: file with the first tensors; none if they are drawn
  std::string start_content{};  ///< digest of that file, 32 hex digits
  ClassWeights class_weights{};
  /// train.peer_weights: samples. A peer's gradients are weighted by its number of samples.
  bool by_samples = false;
  /// Its schedule.total and .peers are set per peer when the run is assembled.
  OptimizerSpec optimizer;
  std::uint32_t local_steps = 1;  ///< steps of a peer in a round; the mean if unequal
  /// `train.local_steps: auto`: steps of each peer that trains, in proportion to its speed;
  /// otherwise empty.
  std::vector<std::uint32_t> own_steps{};
  std::string plugin_content{};  ///< digest of the file of `plugin`, 32 hex digits; or ""
  std::string algorithm = "d-psgd";
  std::string order;             ///< order of the method, or "" for its first one
  Settings settings;             ///< options of the algorithm; missing ones have their defaults
  std::optional<Codec> codec{};  ///< codec of messages; none: floats
  AttackersSpec attackers;
  std::optional<double> clip{};  ///< robust.clip: see Setup::clip
  TopologySpec topology;
  std::string weights = "metropolis";
  std::optional<ScheduleSpec> schedule;  ///< W of every round; replaces topology and weights
  std::string mixing_digest;             ///< digest of W, or of a schedule's graph file (digest.h)
  NetworkSpec network;
  SecuritySpec security{};
  /// simulate.profile: measured seconds of a chain's pieces; or null.
  std::shared_ptr<const ModelProfile> profile{};
  std::string profile_content{};  ///< digest of the profile
  double flops = 50e9;            ///< simulate.flops: FLOP/s of a peer of speed 1
  StopSpec stop;
  FaultSpec faults;
  CheckpointSpec checkpoint;
  /// Rounds between evaluations; 0: only at the end (epochs are resolved later).
  std::uint64_t evaluate_every = 0;
  std::optional<double> evaluate_every_epochs;
  std::string evaluate_device = "cpu";  ///< device of the program that evaluates the fleet's model
  Time evaluate_period{0};              ///< period by the training clock; 0: evaluate by rounds
  std::string output_dir;               ///< output folder, with {name} replaced
  bool keep_best = false;  ///< output.save: save the model of the best evaluation, not the last
  Time grace{std::chrono::seconds(8)};  ///< launch.grace
  bool restart = false;                 ///< launch.restart: on-failure
  /// launch.leash: maximum silence before a host and its launcher treat each other as lost.
  Time leash{std::chrono::seconds(15)};
  bool push = true;        ///< launch.binary: copy this program to hosts that have none
  bool push_data = false;  ///< launch.data: push: send the data to hosts along with the fleet file
  std::string launch_with = "auto";  ///< launch.with: auto | local | ssh | slurm
  RecordSpec record;
  std::string digest;  ///< 32 hex digits that identify the run, see digest_of

  PeerId size() const { return static_cast<PeerId>(peers.size()); }
  PeerId trainers() const { return size() - servers - data_servers - actors; }
  /// Returns the number of stages of each model; 1 if peers hold whole models.
  PeerId stages() const { return parallel ? parallel->stages : 1; }
  /// Returns which part of which model each peer that trains has.
  ChainMap chains() const { return parallel ? parallel->chains() : ChainMap(); }
  /// Returns the number of models trained: vertices of the graph, and parts of the data.
  PeerId models() const { return trainers() / chains().peers(); }
  /// Returns the batch of a model: that of its chain's first stage.
  std::uint32_t batch_of(PeerId model) const { return peers[chains().counterpart(0, model)].batch; }
};

/// Reads the file, applies `sets` ("train.optimizer.lr=0.05") and checks everything that does not
/// need the data. Throws FleetError. Appends notices that are no errors, such as a data fallback,
/// to `notices`.
Fleet read_fleet(const std::string& path,
                 const std::vector<std::string>& sets,
                 std::vector<std::string>* notices);
/// Reads a fleet from a text.
Fleet read_fleet_text(const std::string& text);

/// Returns the paths of all keys that the readers look up in a fleet file, present or not:
/// "train.optimizer.lr"; for a list's items "peers.host". They depend on the file: only a
/// `dirichlet` partition looks up `data.partition.alpha`. Throws FleetError like read_fleet.
std::set<std::string> asked_keys(const std::string& path);

/// Marks a fleet file named by a run's folder. Another person may have made that folder, so no code
/// that the file names runs unless the user passes --trust.
struct Untrusted {
  std::string folder;  ///< folder of the run
  /// Keys whose values the caller would execute. Reading a fleet loads `plugin` at once.
  std::vector<std::string> code{"plugin", "program"};
};

/// Reads a fleet like read_fleet. Before any key takes effect, throws FleetError with the line of
/// each key of `untrusted.code` that the file or `sets` contain.
Fleet read_untrusted_fleet(const std::string& path,
                           const std::vector<std::string>& sets,
                           std::vector<std::string>* notices,
                           const Untrusted& untrusted);

/// Returns the host of each peer, or nothing if all are on one host and need no host names.
std::vector<std::string> host_names(const Fleet& fleet);

/// Returns the spelling in fleet files: "fp32".
std::string_view name_of(Precision precision);

/// Returns `count` such peers as an item of `peers`, with all keys of a group, so that `train` does
/// not affect it: "{ host: anna, count: 2, device: "cpu", threads: 4, precision: fp32, speed: 8 }".
/// `batch`: include their batch, because batches do not follow the speeds.
std::string peer_group_text(const PeerSpec& peer, PeerId count, bool batch);

}  // namespace gv

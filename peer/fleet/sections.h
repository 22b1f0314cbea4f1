#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/algorithm.h"
#include "graph/mixing/mixing.h"
#include "peer/fleet/file/source.h"
#include "peer/fleet/file/value.h"
#include "peer/fleet/fleet.h"
#include "peer/fleet/specs.h"

namespace gv {

/// Reads `agent` (null: none) into `fleet`, whose data and batches are known: agents act where the
/// data are an environment, and nowhere else. Problems become diagnostics of `source`.
void read_agent(Source& source, const Value& root, const Value* value, Fleet& fleet);
/// Says what in the rest of the file, which `fleet` holds, has no meaning for agents, and what has
/// one for them alone.
void check_agent(Source& source, const Value& root, const Fleet& fleet);

/// `plugin`: loads the methods of a shared object, before one of them may be named.
void read_plugin(Source& source,
                 const Value* value,
                 const std::filesystem::path& folder,
                 Fleet& fleet);
/// `algorithm`: its kind, its order and the options of that row of the registry, each with its
/// range.
void read_algorithm(Source& source, const Value* value, Fleet& fleet);

/// Reports what keeps the algorithm from running in this fleet. w: of the fleet's topology; null
/// where it changes with the round.
void check_algorithm(Source& source, const Value& root, const Fleet& fleet, const MixingMatrix* w);

/// Reads `attackers` of a fleet in which `trainers` peers train; may be null. Problems become
/// diagnostics of `source`.
AttackersSpec read_attackers(Source& source, const Value* value, PeerId trainers);

/// Reads `train.class_weights`: `balanced`, or a weight for some classes by their names. Which
/// classes there are is known when the data are.
ClassWeights read_class_weights(Source& source, const Value* value);

/// Reads `faults` of a fleet of `peers` peers; may be null. Problems become diagnostics of
/// `source`.
FaultSpec read_faults(Source& source, const Value* value, PeerId peers);

/// Reads `hosts`; may be null. This machine is the first of them, whether or not the file names it.
/// Problems become diagnostics.
std::vector<HostSpec> read_hosts(Source& source, const Value* value);

/// Refuses an address that leads every machine to itself where peers live on other machines too: a
/// diagnostic at the address. `value`: of `hosts`, as read_hosts had it; the peers are read.
void refuse_own_addresses(Source& source, const Value* value, const Fleet& fleet);

/// Returns where a host of the file says its address, or else its name: "lan.yaml:6:9".
std::string place_of_address(const Fleet& fleet, const std::string& host);

/// `model:` into fleet.model and fleet.start, for fleet.data; null: what the kind of the data is
/// usually learned with. `folder`: where the path of `start` begins. Whether the pictures are large
/// enough, and whether the tensors of `start` fit, is seen when the data are loaded.
void read_model(Source& source,
                const Value& root,
                const Value* value,
                const std::filesystem::path& folder,
                Fleet& fleet);

/// `start:` of `model` into fleet.start and fleet.start_content, likewise.
void read_start(Source& source,
                const Value* value,
                const std::filesystem::path& folder,
                Fleet& fleet);

/// Reads `network` (a map) and `links` (what differs between two peers, or between the peers of two
/// hosts: a list, or `file`, which is looked for in `folder`); both may be null. `hosts`: of each
/// peer. Problems become diagnostics of `source`.
NetworkSpec read_network(Source& source,
                         const Value* network,
                         const Value* links,
                         const std::vector<std::string>& hosts,
                         const std::filesystem::path& folder);

/// Reads `train.optimizer`, its schedule included; may be null. Problems become diagnostics.
OptimizerSpec read_optimizer(Source& source, const Value* value);

/// Reads `parallel` (null: no chains) into `fleet`, whose peers are known, and puts them at their
/// places. Problems become diagnostics of `source`.
void read_parallel(Source& source, const Value* value, Fleet& fleet);
/// Says what in the rest of the file, which `fleet` holds, cannot be beside `parallel`.
void check_parallel(Source& source, const Value& root, const Fleet& fleet);
/// What a method asks of the peers that it runs among, it asks of the copies of each stage. Returns
/// what it has against so many; "" when nothing.
std::string objection_to_copies(const AlgorithmRow& row,
                                const Setup& setup,
                                const std::vector<PeerId>& copies);

/// A number of peers, or a list of groups, into `fleet.peers`; `usual` is what a peer has that says
/// nothing of its own (`train.device`, `train.batch`). Null: two peers. The hosts are known.
/// Problems become diagnostics of `source`.
void read_peers(Source& source, const Value* value, const PeerSpec& usual, Fleet& fleet);

/// A device as fleet files write it: auto | cpu | cuda | cuda:K.
std::optional<std::string> read_device(Source& source, const Value& value);
/// fp32 | tf32 | bf16.
std::optional<Precision> read_precision(Source& source, const Value& value);

/// Reads `program`, a list of words or `{ command, env }`; null: nothing. Problems become
/// diagnostics of `source`.
std::optional<ProgramSpec> read_program(Source& source, const Value* value);

/// `env: torchrun`: the names by which torchrun tells a process who it is. Each value is a word
/// that stands for the peer's own, "{rank}" and so on (peer/launch/program/own_program.h).
const std::map<std::string, std::string>& torchrun_env();

/// Refuses what cannot stand beside the program of a fleet that has been read: what the program
/// brings itself, and methods that it cannot follow. Problems become diagnostics.
void check_program(Source& source, const Value& root, const Fleet& fleet);

/// The message with the line of the file that names the fleet's program.
std::string about_program(const Fleet& fleet, const std::string& message, const std::string& help);

/// Reads `robust` of a fleet whose algorithm is read; may be null. Problems become diagnostics.
void read_robust(Source& source, const Value* value, Fleet& fleet);

/// Reads `security`; may be null. Keys lie beside the fleet file, in `keys`, unless it says
/// otherwise. Problems become diagnostics of `source`.
SecuritySpec read_security(Source& source, const Value* value, const std::filesystem::path& folder);

/// `{ accuracy: 0.9 }`, `{ loss: 0.4, of: local, for: 2 }`. Problems become diagnostics of
/// `source`; `path`: of the key, for them.
std::optional<TargetSpec> read_target(Source& source, const Value& value, const std::string& path);

/// Reads `topology` (null: the default, a ring) into `fleet`, whose peers and algorithm are known:
/// a graph with its weights, or a schedule. Paths are taken relative to `folder`. Problems become
/// diagnostics of `source`, at `value` or else at `root`; `notices` may be null.
void read_topology(Source& source,
                   const Value& root,
                   const Value* value,
                   const std::filesystem::path& folder,
                   Fleet& fleet,
                   std::vector<std::string>* notices);

/// Reads how much each peer does in a round: `train.batch` and `train.local_steps`. Each is a
/// number, or `auto`: in proportion to the peers' speeds, which are known later. Problems become
/// diagnostics of `source`.
class WorkReader : Readers {
 public:
  explicit WorkReader(Source& source) : Readers(source) {}

  /// Reads into `usual`, whose batch is 0 where the peers' own ones are shared out by share().
  /// Null: as it is.
  void read_batch(const Value* value, PeerSpec& usual);
  /// Reads into `fleet.local_steps`. Null: as it is.
  void read_local_steps(const Value* value, Fleet& fleet);
  /// Settles what is `auto`, now that the peers are there. What it found odd without being wrong
  /// goes to `notices`, unless that is null.
  void share(Fleet& fleet, std::vector<std::string>* notices);

 private:
  /// `auto`, or `{ kind: auto, mean: N }`.
  void read_auto(const Value* value, const std::string& path, std::uint32_t& mean);
  /// False, and said: so many on average give the fastest more than anybody can mean.
  bool bearable(const Value& at,
                std::span<const double> speeds,
                std::uint32_t mean,
                std::string_view what);
  void share_batches(Fleet& fleet, std::vector<std::string>* notices);
  void share_local_steps(Fleet& fleet, std::vector<std::string>* notices);

  const Value* auto_batch_ = nullptr;  ///< `train.batch: auto`, where it stands
  std::uint32_t mean_batch_ = 0;
  const Value* auto_steps_ = nullptr;  ///< `train.local_steps: auto`, where it stands
  std::uint32_t mean_steps_ = 0;       ///< 0: least_mean_steps
};

}  // namespace gv

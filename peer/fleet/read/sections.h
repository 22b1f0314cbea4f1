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

/// Reads `agent` into `fleet`, whose data and batches are known; `value` is null without the key.
/// Only data that are an environment have agents. Errors become diagnostics of `source`.
void read_agent(Source& source, const Value& root, const Value* value, Fleet& fleet);
/// Reports keys of the rest of the file, read into `fleet`, that have no meaning for agents, and
/// those that have one for agents alone.
void check_agent(Source& source, const Value& root, const Fleet& fleet);

/// Reads `plugin`: loads the methods of a shared object, so that `algorithm` may name them.
void read_plugin(Source& source,
                 const Value* value,
                 const std::filesystem::path& folder,
                 Fleet& fleet);
/// Reads `algorithm`: kind, order and options of the registry's row, each within its range.
void read_algorithm(Source& source, const Value* value, Fleet& fleet);

/// Reports why the algorithm cannot run in this fleet. `w`: matrix of the fleet's topology; null if
/// it changes with the round.
void check_algorithm(Source& source, const Value& root, const Fleet& fleet, const MixingMatrix* w);

/// Reads `attackers` of a fleet in which `trainers` peers train; `value` may be null. Errors become
/// diagnostics of `source`.
AttackersSpec read_attackers(Source& source, const Value* value, PeerId trainers);

/// Reads `train.class_weights`: `balanced`, or weights of some classes by name. The names are
/// checked when the data are loaded.
ClassWeights read_class_weights(Source& source, const Value* value);

/// Reads `faults` of a fleet of `peers` peers; `value` may be null. Errors become diagnostics of
/// `source`.
FaultSpec read_faults(Source& source, const Value* value, PeerId peers);

/// Reads `hosts`; `value` may be null. This machine is always the first host, named or not. Errors
/// become diagnostics.
std::vector<HostSpec> read_hosts(Source& source, const Value* value);

/// Refuses loopback addresses of hosts if peers live on other machines too; the diagnostic is at
/// the address. `value`: the same as for read_hosts. The peers must have been read.
void refuse_own_addresses(Source& source, const Value* value, const Fleet& fleet);

/// Returns the place of a host's address in the file, or else of its name: "lan.yaml:6:9".
std::string place_of_address(const Fleet& fleet, const std::string& host);

/// Reads `model` into fleet.model and fleet.start, for fleet.data. If `value` is null, takes the
/// usual model for this kind of data. `folder`: base of the path of `start`. The size of pictures
/// and the tensors of `start` are checked when the data are loaded.
void read_model(Source& source,
                const Value& root,
                const Value* value,
                const std::filesystem::path& folder,
                Fleet& fleet);

/// Reads `start` of `model` into fleet.start and fleet.start_content, with the same `folder`.
void read_start(Source& source,
                const Value* value,
                const std::filesystem::path& folder,
                Fleet& fleet);

/// Reads `network` (a map) and `links` (exceptions between two peers or the peers of two hosts: a
/// list, or a `file` in `folder`); both may be null. `hosts`: the host of each peer. Errors become
/// diagnostics of `source`.
NetworkSpec read_network(Source& source,
                         const Value* network,
                         const Value* links,
                         const std::vector<std::string>& hosts,
                         const std::filesystem::path& folder);

/// Reads `train.optimizer` with its schedule; `value` may be null. Errors become diagnostics.
OptimizerSpec read_optimizer(Source& source, const Value* value);

/// Reads `parallel` into `fleet`, whose peers are known, and moves the peers to their places. A
/// null `value` means no chains. Errors become diagnostics of `source`.
void read_parallel(Source& source, const Value* value, Fleet& fleet);
/// Reports keys of the rest of the file, read into `fleet`, that cannot be combined with
/// `parallel`.
void check_parallel(Source& source, const Value& root, const Fleet& fleet);
/// Returns why a method cannot run among the copies of a stage, for each number of `copies`; "" if
/// it can.
std::string objection_to_copies(const AlgorithmRow& row,
                                const Setup& setup,
                                const std::vector<PeerId>& copies);

/// Reads a number of peers, or a list of groups, into `fleet.peers`; null means two peers. `usual`:
/// values of peers without their own (`train.device`, `train.batch`). The hosts are known. Errors
/// become diagnostics of `source`.
void read_peers(Source& source, const Value* value, const PeerSpec& usual, Fleet& fleet);

/// Reads a device: auto | cpu | cuda | cuda:K.
std::optional<std::string> read_device(Source& source, const Value& value);
/// Reads fp32 | tf32 | bf16.
std::optional<Precision> read_precision(Source& source, const Value& value);

/// Reads `program`, a list of words or `{ command, env }`. Returns nothing if `value` is null.
/// Errors become diagnostics of `source`.
std::optional<ProgramSpec> read_program(Source& source, const Value* value);

/// Returns the variables of `env: torchrun`, by which torchrun identifies a process. Each value is
/// a placeholder for the peer's own, "{rank}" and so on (peer/launch/program/own_program.h).
const std::map<std::string, std::string>& torchrun_env();

/// Refuses keys that a fleet with a program cannot have, because the program provides them, and
/// methods that it cannot follow. Errors become diagnostics.
void check_program(Source& source, const Value& root, const Fleet& fleet);

/// Returns the message with the line of the file that names the fleet's program.
std::string about_program(const Fleet& fleet, const std::string& message, const std::string& help);

/// Reads `robust` of a fleet whose algorithm is known; `value` may be null. Errors become
/// diagnostics.
void read_robust(Source& source, const Value* value, Fleet& fleet);

/// Reads `security`; `value` may be null. The default folder of keys is `keys`, next to the fleet
/// file. Errors become diagnostics of `source`.
SecuritySpec read_security(Source& source, const Value* value, const std::filesystem::path& folder);

/// Reads `{ accuracy: 0.9 }` or `{ loss: 0.4, of: local, for: 2 }`. Errors become diagnostics of
/// `source`, with the key's `path`.
std::optional<TargetSpec> read_target(Source& source, const Value& value, const std::string& path);

/// Reads `topology` (null means a ring) into `fleet`, whose peers and algorithm are known: a graph
/// with its weights, or a schedule. Paths are relative to `folder`. Errors become diagnostics of
/// `source`, at `value` or else at `root`; `notices` may be null.
void read_topology(Source& source,
                   const Value& root,
                   const Value* value,
                   const std::filesystem::path& folder,
                   Fleet& fleet,
                   std::vector<std::string>* notices);

/// Reads each peer's work in a round: `train.batch` and `train.local_steps`. Each is a number, or
/// `auto`: in proportion to the peers' speeds, which are known later. Errors become diagnostics of
/// `source`.
class WorkReader : Readers {
 public:
  explicit WorkReader(Source& source) : Readers(source) {}

  /// Reads `train.batch` into `usual`: 0 if share() is to set the peers' batches. If `value` is
  /// null, changes nothing.
  void read_batch(const Value* value, PeerSpec& usual);
  /// Reads into `fleet.local_steps`. If `value` is null, changes nothing.
  void read_local_steps(const Value* value, Fleet& fleet);
  /// Resolves `auto` once the peers are known. Appends unusual but valid results to `notices`,
  /// which may be null.
  void share(Fleet& fleet, std::vector<std::string>* notices);

 private:
  /// Reads `auto` or `{ kind: auto, mean: N }`.
  void read_auto(const Value* value, const std::string& path, std::uint32_t& mean);
  /// Returns false, and reports an error, if with this mean the fastest peer's share is absurdly
  /// large.
  bool bearable(const Value& at,
                std::span<const double> speeds,
                std::uint32_t mean,
                std::string_view what);
  void share_batches(Fleet& fleet, std::vector<std::string>* notices);
  void share_local_steps(Fleet& fleet, std::vector<std::string>* notices);

  const Value* auto_batch_ = nullptr;  ///< position of `train.batch: auto`, or null
  std::uint32_t mean_batch_ = 0;
  const Value* auto_steps_ = nullptr;  ///< position of `train.local_steps: auto`, or null
  std::uint32_t mean_steps_ = 0;       ///< mean number of local steps; 0: least_mean_steps
};

}  // namespace gv

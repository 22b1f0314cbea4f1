#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gossip/message.h"
#include "gossip/world.h"
#include "graph/topology/topology.h"

namespace gv {

/// A fault that the fleet file asks for (`faults.inject`), at a time since training began.
struct Injection {
  enum class Kind : std::uint8_t {
    kill,   ///< the process dies on the spot
    start,  ///< another one takes the place of a dead peer
    stop,   ///< the process stands still for `length`
    cut,    ///< no connection between the peer and `other` for `length`
  };
  Time at{0};
  Kind kind = Kind::kill;
  PeerId peer = 0;
  PeerId other = 0;  ///< cut
  Time length{0};    ///< stop, cut
};

/// `program`: what trains in each peer, instead of a model, data and an optimizer of ours.
struct ProgramSpec {
  std::vector<std::string> command{};        ///< as execvp takes it; never empty
  std::map<std::string, std::string> env{};  ///< of its environment, beside what a peer finds
};

/// One direction between two peers.
struct LinkSpec {
  Time latency{0};       ///< one way
  Time jitter{0};        ///< the latency of each frame is uniform in latency -+ jitter; <= latency
  double bandwidth = 0;  ///< bytes per second of this link alone; 0: no limit of its own
  bool inside = false;   ///< within one machine: not through the peers' network cards
};

/// The places where the bandwidth of a network lies.
enum class NetworkShape : std::uint8_t {
  per_link,  ///< each direction of each link has it to itself
  per_nic,   ///< each peer has it for all that it sends, as through one network card
};

/// The ways that payloads go between processes of one machine.
enum class LocalTransport : std::uint8_t {
  shared,  ///< the neighbour reads them where they lie, in memory that both have mapped
  tcp,     ///< they are sent, as to other machines
};

/// Spells it as fleet files do; printed beside every predicted time, which depends on it.
constexpr std::string_view name_of(NetworkShape shape) {
  return shape == NetworkShape::per_nic ? "per-nic" : "per-link";
}

/// The network that the simulator has, and that a real run imitates where `emulate` says so.
struct NetworkSpec {
  Time latency{0};
  Time jitter{0};
  double bandwidth = 0;  ///< bytes per second of a link or of a peer, as `shape` says; 0: unlimited
  NetworkShape shape = NetworkShape::per_nic;
  bool emulate = false;                                      ///< in a real run, by the transport
  LocalTransport local = LocalTransport::shared;             ///< emulation sends everything
  std::map<std::pair<PeerId, PeerId>, LinkSpec> links = {};  ///< that differ; (lower id, higher id)

  /// Returns the link between two peers, either way.
  LinkSpec link(PeerId a, PeerId b) const {
    const auto own = links.find(std::minmax(a, b));
    if (own != links.end()) return own->second;
    return {latency, jitter, shape == NetworkShape::per_link ? bandwidth : 0};
  }
  std::map<PeerId, double> cards = {};  ///< of peers whose network card differs, bytes per second

  /// Returns the bandwidth of all that one peer sends; 0: no limit.
  double nic_bandwidth(PeerId i) const {
    const auto own = cards.find(i);
    if (own != cards.end()) return own->second;
    return shape == NetworkShape::per_nic ? bandwidth : 0;
  }
};

/// `parallel`: chains of peers divide each model (gossip/chain.h).
struct ParallelSpec {
  static constexpr std::uint32_t all = std::numeric_limits<std::uint32_t>::max();
  enum class Schedule : std::uint8_t {
    flush,      ///< a minibatch comes back whole before the next one goes forward
    pipedream,  ///< minibatches follow each other, on weights that are some steps old
  };

  PeerId stages = 1;  ///< of a chain
  /// The modules that the stages begin with; empty: stages of equal work.
  std::vector<std::string> names{};
  /// Peers of each stage, which share its microbatches; empty: one of each.
  std::vector<PeerId> copies{};
  PeerId tensor = 1;               ///< members of each stage, which divide its layers
  std::uint32_t microbatches = 1;  ///< of a minibatch
  std::uint32_t ahead = 2;         ///< microbatches for each stage behind; or `all`
  bool recompute = false;
  Schedule schedule = Schedule::flush;
  bool vertical_sync = false;   ///< pipedream: weights of one age at all stages
  std::vector<PeerId> place{};  ///< which of `peers` in the file each peer is; empty: as they stand

  ChainMap chains() const {
    if (tensor > 1) return ChainMap(std::vector<PeerId>(stages, tensor));
    return copies.empty() ? ChainMap(stages) : ChainMap(copies);
  }
};

/// As fleet files and JSON spell it.
inline std::string_view name_of(ParallelSpec::Schedule schedule) {
  return schedule == ParallelSpec::Schedule::flush ? "flush" : "pipedream";
}

/// The ways in which links between peers are protected.
enum class SecurityMode : std::uint8_t {
  automatic,  ///< TLS between machines; plain frames between processes of one machine
  tls,        ///< TLS everywhere
  plaintext,  ///< nowhere: whoever is on the network can read along and join in
};

/// Said at every start of a fleet whose file asks for it.
inline constexpr std::string_view plaintext_note =
    "the links between machines are not encrypted (security: plaintext): trust the network";

struct SecuritySpec {
  SecurityMode mode = SecurityMode::automatic;
  /// The folder of keys of peers that are started by hand or by an engine; `run` makes its own.
  std::string keys{};
};

/// The condition under which a run counts as having arrived.
struct TargetSpec {
  enum class Figure : std::uint8_t { accuracy, loss };
  enum class Whose : std::uint8_t { mean, local, worst };
  Figure figure = Figure::accuracy;
  Whose whose = Whose::mean;  ///< the mean model; local: mean loss of models; worst: accuracy
  double value = 0;           ///< accuracy: at least, a fraction; loss: at most
  /// True for an agent, whose loss is minus its return: `value` is minus the one that is asked for.
  bool as_return = false;
  std::uint32_t in_a_row = 1;  ///< evaluations that must be there, one after the other
  bool operator==(const TargetSpec&) const = default;

  /// Returns the value as it is asked for: of a return itself, not minus it.
  double asked() const { return as_return ? -value : value; }
  bool holds(double measured) const {
    return figure == Figure::accuracy ? measured >= value : measured <= value;
  }
};

/// "accuracy 0.88", "worst local accuracy 0.88", "mean loss of local models 0.3 twice in a row".
std::string to_string(const TargetSpec& target);
/// "accuracy.worst=0.88 for 2", as `compare --target` takes it.
std::string target_argument(const TargetSpec& target);

}  // namespace gv

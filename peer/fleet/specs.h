#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gossip/seam/message.h"
#include "gossip/seam/world.h"
#include "graph/topology/topology.h"

namespace gv {

/// A fault to inject (`faults.inject`), at a time since training began.
struct Injection {
  enum class Kind : std::uint8_t {
    kill,   ///< the process is killed
    start,  ///< a new process replaces a dead peer
    stop,   ///< the process is suspended for `length`
    cut,    ///< no connection between the peer and `other` for `length`
  };
  Time at{0};
  Kind kind = Kind::kill;
  PeerId peer = 0;
  PeerId other = 0;  ///< cut
  Time length{0};    ///< stop, cut
};

/// `program`: the user's program that trains in each peer, instead of the fleet's own model.
struct ProgramSpec {
  std::vector<std::string> command{};        ///< arguments for execvp; never empty
  std::map<std::string, std::string> env{};  ///< additions to its environment
};

/// One direction of a link between two peers.
struct LinkSpec {
  Time latency{0};       ///< one-way latency
  Time jitter{0};        ///< a frame's latency is uniform in latency -+ jitter; <= latency
  double bandwidth = 0;  ///< bytes per second of this link; 0: no own limit
  bool inside = false;   ///< within one machine, not through a network card
};

/// Sharing of a network's bandwidth.
enum class NetworkShape : std::uint8_t {
  per_nic,   ///< each peer has all the bandwidth for sending, as with one card
  per_link,  ///< each direction of each link has all the bandwidth
};

/// Transport of payloads between processes of one machine.
enum class LocalTransport : std::uint8_t {
  shared,  ///< the neighbour reads them in memory that both have mapped
  tcp,     ///< they are sent as to other machines
};

/// Returns the spelling in fleet files; printed with predicted times, which depend on the shape.
constexpr std::string_view name_of(NetworkShape shape) {
  return shape == NetworkShape::per_nic ? "per-nic" : "per-link";
}

/// The network of the simulator, which a real run imitates if `emulate` is set.
struct NetworkSpec {
  Time latency{0};
  Time jitter{0};
  double bandwidth = 0;  ///< bytes per second of a link or peer, see `shape`; 0: unlimited
  NetworkShape shape = NetworkShape::per_nic;
  bool emulate = false;                           ///< the transport of a real run imitates it
  LocalTransport local = LocalTransport::shared;  ///< unused with `emulate`: all is sent
  /// Exceptions, by (lower id, higher id).
  std::map<std::pair<PeerId, PeerId>, LinkSpec> links = {};

  /// Returns the link between two peers, in either direction.
  LinkSpec link(PeerId a, PeerId b) const {
    const auto own = links.find(std::minmax(a, b));
    if (own != links.end()) return own->second;
    return {latency, jitter, shape == NetworkShape::per_link ? bandwidth : 0};
  }
  std::map<PeerId, double> cards = {};  ///< exceptional network cards by peer, bytes per second

  /// Returns the bandwidth for all that a peer sends; 0: no limit.
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
    flush,      ///< a minibatch's backward passes end before the next begins
    pipedream,  ///< minibatches overlap, on weights that are some steps old
  };

  PeerId stages = 1;  ///< stages of a chain
  /// First module of each stage, or empty for stages of equal work.
  std::vector<std::string> names{};
  /// Number of peers of each stage, which share its microbatches; or empty for one each.
  std::vector<PeerId> copies{};
  PeerId tensor = 1;               ///< members of each stage, which divide its layers
  std::uint32_t microbatches = 1;  ///< microbatches in a minibatch
  std::uint32_t ahead = 2;         ///< microbatches in flight per downstream stage; or `all`
  bool recompute = false;
  Schedule schedule = Schedule::flush;
  bool vertical_sync = false;   ///< pipedream: all stages use weights of one age
  std::vector<PeerId> place{};  ///< by peer, its index in `peers` of the file; or empty

  ChainMap chains() const {
    if (tensor > 1) return ChainMap(std::vector<PeerId>(stages, tensor));
    return copies.empty() ? ChainMap(stages) : ChainMap(copies);
  }
};

/// Returns the spelling in fleet files and JSON.
inline std::string_view name_of(ParallelSpec::Schedule schedule) {
  return schedule == ParallelSpec::Schedule::flush ? "flush" : "pipedream";
}

/// Protection of links between peers.
enum class SecurityMode : std::uint8_t {
  automatic,  ///< TLS between machines; plain frames between processes of one machine
  tls,        ///< TLS everywhere
  plaintext,  ///< no TLS: anyone on the network can read along and join in
};

/// Printed at every start of a fleet whose file asks for it.
inline constexpr std::string_view plaintext_note =
    "the links between machines are not encrypted (security: plaintext): trust the network";

struct SecuritySpec {
  SecurityMode mode = SecurityMode::automatic;
  /// Folder of keys for peers started by hand or by an engine; `run` makes its own keys.
  std::string keys{};
};

/// The goal of a run: a bound that a figure must reach.
struct TargetSpec {
  enum class Figure : std::uint8_t { accuracy, loss };
  enum class Whose : std::uint8_t { mean, local, worst };
  Figure figure = Figure::accuracy;
  Whose whose = Whose::mean;  ///< mean model, mean loss of local models, or worst local accuracy
  double value = 0;           ///< minimum accuracy, a fraction; or maximum loss
  /// True for an agent, whose loss is minus its return: `value` is then minus the wanted return.
  bool as_return = false;
  std::uint32_t in_a_row = 1;  ///< number of consecutive evaluations that must reach it
  bool operator==(const TargetSpec&) const = default;

  /// Returns the value as the user wrote it: a return itself, not minus it.
  double asked() const { return as_return ? -value : value; }
  bool holds(double measured) const {
    return figure == Figure::accuracy ? measured >= value : measured <= value;
  }
};

/// Returns "accuracy 0.88", "mean loss of local models 0.3 twice in a row".
std::string to_string(const TargetSpec& target);
/// Returns "accuracy.worst=0.88 for 2", as `compare --target` takes it.
std::string target_argument(const TargetSpec& target);

}  // namespace gv

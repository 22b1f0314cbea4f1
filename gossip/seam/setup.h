#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/topology.h"
#include "optim/codec/codec.h"
#include "optim/train/optimizer.h"

namespace gv {

/// A key of a method in the fleet file, `algorithm: { kind: slowmo, beta: 0.7 }`, and its range.
struct Option {
  std::string_view name;
  double usual = 0;  ///< default
  double least = 0, most = 0;
  bool whole = false;     ///< no fractions
  std::string_view help;  ///< description, with the symbol in the paper
  /// The words that the option takes; its value is the index. Empty means a number.
  std::span<const std::string_view> words{};
};

/// Returns a value as it is written in the fleet file.
std::string text_of(const Option& option, double value);

/// The values of all options of a method, by name.
using Settings = std::map<std::string, double, std::less<>>;

/// The way in which attackers attack (attack.h).
struct Attack {
  std::size_t kind = 0;  ///< index into attacks()
  double strength = 1;
};

/// A method's knowledge of its fleet before it runs; the same on every peer.
struct Setup {
  PeerId peers = 1;         ///< n, number that train, ids 0 .. n - 1; of chains: number of chains
  PeerId servers = 0;       ///< number of servers, ids from n on
  PeerId data_servers = 0;  ///< number of data servers, the ids after those; they hold the samples
  /// Number of actors, the last ids, which act for peers that train: data_servers are then the
  /// memories that they fill (experience.h).
  PeerId actors = 0;
  PeerId attackers = 0;  ///< number of attackers, the last peers that train
  Attack attack{};
  std::vector<std::uint32_t> hosts{};  ///< index of each peer's machine; empty means one machine
  /// Minibatches in one pass over its data, for each peer that trains; empty if there are no
  /// samples, or they are not counted yet.
  std::vector<std::uint64_t> epochs{};
  std::vector<std::uint64_t> samples{};  ///< by peer that trains; empty as for epochs
  std::size_t most_samples_bytes = 0;    ///< encoded size of a minibatch of any peer
  std::size_t most_chunk_bytes = 0;      ///< encoded size of an actor's transitions
  std::size_t most_judged_bytes = 0;     ///< encoded size of a learner's errors for a minibatch
  std::uint64_t seed = 1;
  std::uint32_t local_steps = 1;  ///< H; the mean if unequal
  /// Local steps of each peer that trains, if `auto` makes them unequal; empty means H each.
  std::vector<std::uint32_t> own_steps{};
  OptimizerSpec optimizer{};
  Settings settings{};
  std::optional<Codec> codec{};  ///< codec of models; none: floats
  /// `robust: { clip }`: the longest distance between two models that counts whole; 0: `auto`, by
  /// the peers' own steps (clipping.h); none: no limit.
  std::optional<double> clip{};
  bool scheduled = false;  ///< W changes with the round
  bool push_sum = false;   ///< no W: each peer divides what it holds among its receivers
  bool by_shares = false;  ///< W is row-stochastic: peers count by their samples (share_weights.h)
  /// True if threads may take steps of the model on one x without a lock: Objective::descend.
  bool shares_descent = false;

  /// Returns the weight of each peer if peers count by their samples, 1 on average; 1 for all
  /// before the samples are counted.
  std::vector<double> shares() const;
  /// Returns the local steps of peer i in a round.
  std::uint32_t steps_of(PeerId i) const {
    return i < own_steps.size() ? own_steps[i] : local_steps;
  }
};

}  // namespace gv

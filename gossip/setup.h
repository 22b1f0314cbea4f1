#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/topology/topology.h"
#include "optim/codec.h"
#include "optim/train/optimizer.h"

namespace gv {

/// A key of a method in the fleet file, `algorithm: { kind: slowmo, beta: 0.7 }`, and its range.
struct Option {
  std::string_view name;
  double usual = 0;  ///< where the file says nothing
  double least = 0, most = 0;
  bool whole = false;     ///< no fractions
  std::string_view help;  ///< what it is, with its letter in the paper
  /// The file says one of these, and the value is its place among them. Empty: it says a number.
  std::span<const std::string_view> words{};
};

/// A value as the fleet file says it.
std::string text_of(const Option& option, double value);

/// The values of a method's options by name, all of them.
using Settings = std::map<std::string, double, std::less<>>;

/// The way in which attackers attack (attack.h).
struct Attack {
  std::size_t kind = 0;  ///< index into attacks()
  double strength = 1;
};

/// The facts that a method knows of its fleet before it runs; the same on every peer.
struct Setup {
  PeerId peers = 1;    ///< n: those that train, ids 0 .. n - 1; of chains: as many as there are
  PeerId servers = 0;  ///< the ids from n on
  PeerId data_servers = 0;  ///< those behind them, which hold the training samples
  /// The peers behind all others, which act for those that train: then data_servers are the
  /// memories that they fill (experience.h).
  PeerId actors = 0;
  PeerId attackers = 0;  ///< the last of those that train
  Attack attack{};
  std::vector<std::uint32_t> hosts{};  ///< of each peer, the index of its machine; empty: one
  /// The minibatches, of each that trains, in one pass over its data; empty: there are no samples,
  /// or they are not counted yet.
  std::vector<std::uint64_t> epochs{};
  std::vector<std::uint64_t> samples{};  ///< of each that trains; empty: as for epochs
  std::size_t most_samples_bytes = 0;    ///< of a minibatch on its way, of whoever trains
  std::size_t most_chunk_bytes = 0;      ///< of an actor's transitions on their way
  std::size_t most_judged_bytes = 0;     ///< of what a learner says of a minibatch
  std::uint64_t seed = 1;
  std::uint32_t local_steps = 1;  ///< H; of unequal ones the mean
  /// Steps of each that trains, where `train.local_steps: auto` makes them unequal; empty: H each.
  std::vector<std::uint32_t> own_steps{};
  OptimizerSpec optimizer{};
  Settings settings{};
  std::optional<Codec> codec{};  ///< of what travels; none: floats
  /// `robust: { clip }`: the longest distance between two models that counts whole; 0: `auto`, by
  /// what the peers' own steps are (clipping.h); none: every one does.
  std::optional<double> clip{};
  bool scheduled = false;  ///< W changes with the round
  bool push_sum = false;   ///< there is no W: each divides what it holds among those who hear it
  bool by_shares = false;  ///< W is row-stochastic: peers count by their samples (share_weights.h)
  /// True where threads may take steps of the model on one x without a lock: Objective::descend.
  bool shares_descent = false;

  /// How much each peer counts where they count by their samples, 1 on average; 1 for all before
  /// these are counted.
  std::vector<double> shares() const {
    std::vector<double> each(samples.begin(), samples.end());
    if (each.empty()) return std::vector<double>(peers, 1);
    const double mean = std::accumulate(each.begin(), each.end(), 0.0) / peers;
    for (double& share : each) share /= mean;
    return each;
  }
  /// Local steps of peer i in a round.
  std::uint32_t steps_of(PeerId i) const {
    return i < own_steps.size() ? own_steps[i] : local_steps;
  }
};

}  // namespace gv

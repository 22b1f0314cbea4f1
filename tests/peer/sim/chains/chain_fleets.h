#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/rng.h"
#include "peer/record/observer.h"
#include "peer/sim/simulation.h"

// Small fleets whose chains of peers divide a perceptron. Every key is drawn.

namespace gv {

/// The keys of a fleet file.
struct ChainFleet {
  PeerId chains = 2;
  PeerId stages = 2;     ///< 0 leaves out `parallel`
  std::string begins{};  ///< the first module of each stage; "" makes stages of equal work
  std::uint32_t microbatches = 2;
  std::string ahead = "2";
  bool recompute = false;
  bool stream = false;  ///< minibatches follow each other without a flush
  bool vertical_sync = false;
  PeerId tensor = 1;             ///< members of each stage
  std::vector<PeerId> copies{};  ///< copies of each stage of the one chain; [] means one each
  std::string method = "{ kind: d-psgd }";
  std::string topology = "ring";
  std::string optimizer = "{ kind: sgd, lr: 0.1, momentum: 0.9 }";
  std::uint32_t batch = 8;
  std::uint32_t local_steps = 1;
  Round rounds = 6;
  std::uint64_t seed = 1;
  std::string hidden = "[7, 6, 9, 4]";
  std::string more{};

  std::string parallel() const {
    if (stages == 0) return "";
    const std::string schedule =
        stream ? fmt::format("schedule: pipedream, vertical_sync: {}", vertical_sync)
               : fmt::format("microbatches: {}, ahead: {}", microbatches, ahead);
    return fmt::format(
        "parallel: {{ stages: {}, {}, recompute: {}{}{} }}\n",
        begins.empty() ? std::to_string(stages) : begins, schedule, recompute,
        tensor == 1 ? "" : fmt::format(", tensor: {}", tensor),
        copies.empty() ? "" : fmt::format(", copies: [{}]", fmt::join(copies, ", ")));
  }

  PeerId peers() const {
    return copies.empty() ? chains * std::max<PeerId>(1, stages) * tensor
                          : std::accumulate(copies.begin(), copies.end(), PeerId{0});
  }

  std::string text() const {
    return fmt::format(
        "version: 1\nseed: {}\npeers: {}\n"
        "data: {{ kind: blobs, features: 5, classes: 3, train: 200, test: 40 }}\n"
        "model: {{ kind: mlp, hidden: {} }}\n"
        "train: {{ batch: {}, local_steps: {}, optimizer: {} }}\n"
        "algorithm: {}\ntopology: {}\nevaluate: {{ every: 2 rounds }}\n"
        "stop: {{ rounds: {} }}\nfaults: {{ deadline: 0 s }}\n{}{}",
        seed, peers(), hidden, batch, local_steps, optimizer, method, topology, rounds, parallel(),
        more);
  }

  Assembly assembly() const { return Assembly(read_fleet_text(text())); }

  /// Returns this fleet with peers that have whole models and take the microbatches in turn.
  ChainFleet whole() const {
    ChainFleet other = *this;
    other.stages = 1;
    other.copies.clear();
    other.tensor = 1;
    other.begins.clear();
    return other;
  }

  /// Returns this fleet with minibatches that follow each other, undivided and one a round.
  ChainFleet streamed(bool sync) const {
    ChainFleet other = *this;
    other.stream = true;
    other.vertical_sync = sync;
    other.microbatches = other.local_steps = 1;
    return other;
  }
};

template <class Item>
const Item& one_of(Rng& rng, const std::vector<Item>& items) {
  return items[rng.below(static_cast<std::uint32_t>(items.size()))];
}

/// Draws everything but the method.
inline ChainFleet draw_chains(Rng& rng) {
  ChainFleet f;
  f.chains = 1 + static_cast<PeerId>(rng.below(4));
  f.stages = 1 + static_cast<PeerId>(rng.below(5));
  f.batch = one_of<std::uint32_t>(rng, {4, 6, 8, 12});
  std::vector<std::uint32_t> divisors;
  for (std::uint32_t d = 1; d <= f.batch; ++d)
    if (f.batch % d == 0) divisors.push_back(d);
  f.microbatches = one_of(rng, divisors);
  f.ahead = one_of<std::string>(rng, {"1", "2", "3", "all"});
  f.recompute = rng.below(2) == 1;
  f.optimizer = one_of<std::string>(
      rng, {"{ kind: sgd, lr: 0.1 }", "{ kind: sgd, lr: 0.1, momentum: 0.9 }",
            "{ kind: sgd, lr: 0.05, momentum: 0.9, nesterov: true }", "{ kind: adam, lr: 0.01 }"});
  f.local_steps = one_of<std::uint32_t>(rng, {1, 1, 3});
  f.topology = one_of<std::string>(rng, {"ring", "complete", "path", "star"});
  f.rounds = 3 + rng.below(4);
  f.seed = rng.below(1'000'000);
  return f;
}

/// Draws one chain whose stages have copies. There are at least as many microbatches as copies.
inline ChainFleet draw_copies(Rng& rng) {
  ChainFleet f = draw_chains(rng);
  f.chains = 1;
  f.local_steps = 1;
  f.batch = 12;
  f.microbatches = one_of<std::uint32_t>(rng, {3, 4, 6, 12});
  const std::string order = one_of<std::string>(rng, {"ring", "driver", "doubling"});
  f.method = fmt::format("{{ kind: all-reduce, order: {} }}", order);
  for (PeerId s = 0; s < f.stages; ++s)
    f.copies.push_back(order == "doubling" ? 1 + static_cast<PeerId>(rng.below(2))
                                           : 1 + static_cast<PeerId>(rng.below(3)));
  f.copies[rng.below(f.stages)] = 2;
  return f;
}

/// The results of a fleet, and its records on the way.
struct ChainRun {
  FinalHashes hashes{};
  std::vector<FleetRecord> records{};
  std::map<PeerId, Report> finals{};
  SimulationResult result{};
};

inline ChainRun run_chains(const Assembly& fleet, const SimulationOptions& options = {}) {
  ChainRun run;
  Observer observer(fleet.fleet.size(), fleet.evaluator(),
                    [&](const FleetRecord& r) { run.records.push_back(r); });
  run.result = simulate(fleet, observer, options);
  if (observer.summary()) run.hashes = observer.hashes();
  run.finals = observer.finals();
  return run;
}

/// Stops a run after round `at`, and resumes it from the checkpoints of that round.
inline ChainRun resumed_behind(const Assembly& fleet, Round at) {
  std::vector<Checkpoint> kept(fleet.fleet.size());
  SimulationOptions first;
  first.threads = 1;
  first.until = at;
  first.keep = at;
  first.on_store = [&](PeerId i, Round round, std::vector<std::byte> state) {
    kept[i] = Checkpoint{fleet.fleet.digest, fleet.model_digest, i, round, std::move(state)};
  };
  run_chains(fleet, first);
  SimulationOptions second;
  second.resume = kept;
  return run_chains(fleet, second);
}

}  // namespace gv

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "peer/study/predict/parallel/proposals.h"
#include "peer/study/predict/parallel/strategy.h"
#include "tests/peer/sim/chains/chain_fleets.h"

// Fleets of different machines and perceptrons of different layers, and the ways to divide them, as
// text of their files.

namespace gv {

struct UnlikeFleet {
  PeerId peers = 2;
  std::vector<std::uint32_t> hidden{};
  std::vector<double> speeds{};
  std::string method = "d-psgd";
  std::string network = "100 Mbit";
  std::string latency = "0.2 ms";
  std::uint32_t batch = 4;

  std::string text(const std::string& parallel = "") const {
    std::vector<std::string> machines;
    for (const double speed : speeds) machines.push_back(fmt::format("{{ speed: {} }}", speed));
    return fmt::format(
        "version: 1\npeers: [{}]\nalgorithm: {}\ntrain: {{ batch: {} }}\nstop: {{ rounds: 5 }}\n"
        "data: {{ kind: blobs, features: 16, classes: 4, train: 200, test: 40 }}\n"
        "model: {{ kind: mlp, hidden: [{}] }}\nsimulate: {{ flops: 0.1 GFLOP/s }}\n"
        "network: {{ latency: {}, bandwidth: {} }}\n{}",
        fmt::join(machines, ", "), method, batch, fmt::join(hidden, ", "), latency, network,
        parallel);
  }

  bool sums() const { return method.find("all-reduce") != std::string::npos; }
};

/// `width` divides the width of each layer.
inline UnlikeFleet draw_fleet(Rng& rng, PeerId peers, std::size_t layers, std::uint32_t width) {
  UnlikeFleet f;
  f.peers = peers;
  for (std::size_t k = 0; k < layers; ++k)
    f.hidden.push_back(width * (1 + static_cast<std::uint32_t>(rng.below(64 / width))));
  for (PeerId i = 0; i < peers; ++i)
    f.speeds.push_back(0.25 * static_cast<double>(1 + rng.below(16)));
  f.method = one_of<std::string>(
      rng, {"d-psgd", "{ kind: d-psgd, order: atc }", "all-reduce", "all-reduce", "local-sgd"});
  f.network = one_of<std::string>(rng, {"1 Mbit", "10 Mbit", "100 Mbit", "1 Gbit"});
  f.latency = one_of<std::string>(rng, {"0.2 ms", "1 us"});
  f.batch = one_of<std::uint32_t>(rng, {4, 6, 8});
  return f;
}

inline StrategyCosts costs_of(const Assembly& fleet) {
  return {fleet, std::make_shared<const ModelProfile>(counted_profile(fleet)), 0, nullptr};
}

/// Returns the key `parallel` of a fleet file.
inline std::string parallel_of(const ParallelProposal& p) {
  return fmt::format(
      "parallel: {{ stages: [{}], place: [{}], microbatches: {}, ahead: {}{}{} }}\n",
      fmt::join(p.stages, ", "), fmt::join(p.place, ", "), p.microbatches,
      p.ahead == ParallelSpec::all ? "all" : fmt::format("{}", p.ahead),
      p.copies.empty() ? "" : fmt::format(", copies: [{}]", fmt::join(p.copies, ", ")),
      p.tensor == 1 ? "" : fmt::format(", tensor: {}", p.tensor));
}

/// Returns the samples per second of the fleet with this text, or 0 if its reader refuses the text.
inline double rate_of(const std::string& text) {
  try {
    const Assembly fleet(read_fleet_text(text));
    const DryRun rounds = dry_run(fleet, fleet.fleet.network);
    return static_cast<double>(fleet.fleet.models()) * fleet.fleet.peers.front().batch /
           rounds.seconds_per_round;
  } catch (const FleetError&) {
    return 0;
  }
}

/// Returns all ways to spread `peers` peers over `stages` stages.
inline std::vector<std::vector<PeerId>> copies_of(PeerId peers, std::size_t stages) {
  if (stages == 1) return {{peers}};
  std::vector<std::vector<PeerId>> all;
  for (PeerId first = 1; first + stages <= peers + 1; ++first)
    for (std::vector<PeerId>& rest : copies_of(peers - first, stages - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  return all;
}

/// Returns all ways with these stages and machines: chains of single peers, and unless `plain_only`
/// copies and members. Some cannot run.
inline std::vector<ParallelProposal> ways_of(const UnlikeFleet& f,
                                             const ParallelProposal& stages,
                                             bool plain_only) {
  std::vector<ParallelProposal> ways;
  for (PeerId tensor = 1; tensor <= (plain_only ? 1 : f.peers); ++tensor) {
    ways.push_back(stages);
    ways.back().tensor = tensor;
  }
  if (plain_only || !f.sums() || stages.stages.size() > f.peers) return ways;
  for (std::vector<PeerId>& copies : copies_of(f.peers, stages.stages.size())) {
    ways.push_back(stages);
    ways.back().copies = std::move(copies);
  }
  return ways;
}

/// Returns the highest rate of all ways to divide the model.
inline double best_of_all(const UnlikeFleet& f,
                          const std::vector<std::string>& modules,
                          bool plain_only) {
  double best = 0;
  for (std::size_t chosen = 0; chosen < std::size_t{1} << (modules.size() - 1); ++chosen) {
    ParallelProposal way;
    way.stages = {modules.front()};
    for (std::size_t k = 1; k < modules.size(); ++k)
      if ((chosen >> (k - 1) & 1U) != 0) way.stages.push_back(modules[k]);
    way.place.resize(f.peers);
    std::iota(way.place.begin(), way.place.end(), PeerId{0});
    do {
      for (way.microbatches = 1; way.microbatches <= f.batch; ++way.microbatches)
        for (const std::uint32_t ahead : {1U, 2U, ParallelSpec::all}) {
          way.ahead = ahead;
          for (const ParallelProposal& each : ways_of(f, way, plain_only))
            if (f.batch % way.microbatches == 0)
              best = std::max(best, rate_of(f.text(parallel_of(each))));
        }
    } while (std::ranges::next_permutation(way.place).found);
  }
  return best;
}

inline std::vector<std::string> modules_of(const StrategyCosts& costs) {
  std::vector<std::string> modules;
  for (const auto& piece : costs.profile().pieces) modules.push_back(piece.name);
  return modules;
}

}  // namespace gv

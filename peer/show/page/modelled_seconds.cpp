#include "peer/show/page/modelled_seconds.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "peer/record/runs/stored_run.h"
#include "peer/study/predict/forecast/wall_clock.h"

namespace gv {
namespace {

constexpr double bytes_of_a_float = 4;
constexpr double mbit = 1e6 / 8;

/// The value of a key of the run's file, in seconds, Mbit/s or ones.
std::optional<double> value_of(const StoredRun& run, const std::string& key, std::string_view in) {
  const auto at = run.keys.find(key);
  if (at == run.keys.end()) return std::nullopt;
  const auto number = stated_number(at->second);
  return number && number->unit == in ? std::optional(number->value) : std::nullopt;
}

bool has(const StoredRun& run, const std::string& key) {
  return run.keys.contains(key);
}

/// Returns whether a peer takes more than one step in a round, or may.
bool has_local_steps(const StoredRun& run) {
  const std::string key = "train.local_steps";
  if (!has(run, key)) return has(run, key + ".kind");
  return value_of(run, key, "").value_or(0) != 1;
}

/// Models that a peer sends in a round.
std::optional<double> models_sent(const StoredRun& run, std::size_t n) {
  struct Graph {
    std::string_view name;
    double degree;
  };
  constexpr std::array graphs{
      Graph{"ring", 2}, Graph{"one-peer-exponential", 1}, Graph{"random-matching", 1}};
  if (n < 2) return 0;
  const auto known = std::ranges::find(graphs, run.topology, &Graph::name);
  if (known != graphs.end()) return std::min(known->degree, static_cast<double>(n - 1));
  if (run.topology == "complete") return static_cast<double>(n - 1);
  return std::nullopt;
}

/// Computes the seconds of one gradient, in the mean over the seeds.
std::optional<double> gradient_seconds(const Contender& contender, std::size_t trainers) {
  double seconds = 0;
  double rounds = 0;
  for (const SeedRun& entry : contender.entries) {
    if (!entry.cost || !entry.cost->states) return std::nullopt;
    seconds += entry.cost->states->front() / static_cast<double>(trainers);
    rounds += entry.cost->rounds;
  }
  return rounds > 0 ? std::optional(seconds / rounds) : std::nullopt;
}

}  // namespace

std::optional<double> modelled_round_seconds(const Contender& contender) {
  const StoredRun& run = *contender.group->runs.front();
  if (has(run, "links") || has_local_steps(run)) return std::nullopt;
  const auto shape = run.keys.find("network.shape");
  if (shape != run.keys.end() && shape->second != "per-nic") return std::nullopt;
  const bool served = run.algorithm == "parameter-server";
  const auto servers =
      static_cast<std::size_t>(served ? value_of(run, "algorithm.servers", "").value_or(1) : 0);
  if (servers >= run.peers || servers > 1) return std::nullopt;
  WallClock clock{.peers = run.peers - servers,
                  .latency = value_of(run, "network.latency", "s").value_or(0),
                  .bandwidth = mbit * value_of(run, "network.bandwidth", "Mbit/s").value_or(0),
                  .model_bytes = bytes_of_a_float * static_cast<double>(run.parameters)};
  const auto compute = gradient_seconds(contender, clock.peers);
  if (!compute) return std::nullopt;
  clock.compute = *compute;
  if (run.algorithm == "all-reduce" && (run.order.empty() || run.order == "ring"))
    return clock.ring_all_reduce();
  if (served && run.order == "sync" && value_of(run, "algorithm.backup", "").value_or(0) == 0)
    return clock.server();
  if (run.algorithm != "d-psgd" || has(run, "algorithm.codec")) return std::nullopt;
  const auto models = models_sent(run, clock.peers);
  if (!models) return std::nullopt;
  return clock.gossip(*models, run.order == "lian");
}

}  // namespace gv

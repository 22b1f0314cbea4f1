#include "peer/study/predict/forecast/proposal.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "optim/rng.h"
#include "peer/sim/blank_replica.h"
#include "peer/sim/simulation.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv {
namespace {

/// Longer dry runs would take too long, and rare rounds hardly count.
constexpr Round most_period = 1000;

constexpr Round least_rounds = 8;

/// Maximum rounds of all peers together if rounds differ in length.
constexpr Round most_unlike = 10'000;

/// Returns whether rounds differ in length: pairs, graphs or training peers are drawn, or servers
/// serve the first to arrive.
bool is_drawn(const Assembly& fleet) {
  const Setup& setup = *fleet.setup;
  const auto fraction = setup.settings.find("fraction");
  const bool some = fraction != setup.settings.end() && fraction->second < 1;
  return !fleet.algorithm->synchronous || setup.scheduled || some;
}

/// Returns the rounds to measure, a whole number of periods.
Round rounds_that_tell(const Assembly& fleet) {
  const auto period_of = fleet.algorithm->period;
  const Round period = period_of == nullptr ? 1 : std::min(most_period, period_of(*fleet.setup));
  return period * std::max<Round>(1, least_rounds / period);
}

/// Returns the rounds in which a chain without a flush drains at the end.
Round rounds_that_empty(const Assembly& fleet) {
  const std::optional<ParallelSpec>& parallel = fleet.fleet.parallel;
  const bool flushes = !parallel || parallel->schedule == ParallelSpec::Schedule::flush;
  return flushes ? 0 : parallel->stages - 1;
}

/// Returns the rounds to run if rounds differ in length: then all are measured.
Round rounds_of_all(const Assembly& fleet) {
  return std::min(fleet.rounds, std::max(least_rounds, most_unlike / fleet.fleet.size()));
}

/// Returns the rows of W by peer when peers[k] stands at place k.
std::vector<Neighborhood> rows_of(const MixingMatrix& w, const std::vector<PeerId>& peers) {
  std::vector<Neighborhood> rows(peers.size());
  for (PeerId place = 0; place < peers.size(); ++place) {
    Neighborhood row = w.row(place);
    for (PeerId& each : row.peers) each = peers[each];
    for (PeerId& each : row.receivers) each = peers[each];
    std::ranges::sort(row.receivers);  // models go to neighbours in this order
    rows[peers[place]] = std::move(row);
  }
  return rows;
}

Topology placed(const Topology& graph, const std::vector<PeerId>& peers) {
  Topology other{
      .name = graph.name, .directed = graph.directed, .neighbors = {}, .edge_weights = {}};
  other.neighbors.resize(graph.size());
  for (PeerId place = 0; place < graph.size(); ++place) {
    std::vector<PeerId>& heard = other.neighbors[peers[place]];
    for (const PeerId each : graph.neighbors[place]) heard.push_back(peers[each]);
    std::ranges::sort(heard);
  }
  return other;
}

/// A smaller predicted gain may be a loss, because predictions err by a few per cent.
constexpr double worth_moving = 0.95;

void check(const Assembly& fleet) {
  if (!fleet.is_plain_d_psgd() || !fleet.w)
    throw std::invalid_argument(
        "--place: only d-psgd on a graph that stays has places to choose; this fleet has none");
  if (fleet.fleet.weights.starts_with("file:") || !fleet.topology.edge_weights.empty())
    throw std::invalid_argument(
        "--place: the weights come from a file, which fixes the place of each peer; leave them "
        "out");
}

using Sets = std::vector<std::string>;

constexpr PeerId most_leaves = 3;
constexpr PeerId most_placed = 64;  ///< most peers for which graphs with leaves are tried
constexpr const char* local_steps = "train.local_steps=8";

class Search {
 public:
  Search(const Assembly& fleet, const ProposalSearch& search) : fleet_(fleet), search_(search) {}

  std::vector<Proposal> run() {
    look_at({});
    if (found_.empty()) return {};
    if (const auto placed = measured({on(search_.placed)});
        placed && placed->seconds_per_step() < found_.front().seconds_per_step())
      found_.push_back(*placed);
    look_at_leaves();
    for (const char* schedule : {"one-peer-exponential", "random-matching"})
      look_at({fmt::format("topology={}", schedule)});
    const Sets graph = fastest().sets;
    Sets steps = graph, codec = graph;
    steps.emplace_back(local_steps);
    codec.emplace_back("algorithm={ kind: d-psgd, codec: int8 }");
    look_at(steps);
    look_at(codec);
    look_at({"algorithm=all-reduce"});
    look_at({"algorithm=ad-psgd"});
    look_at({"algorithm=local-sgd", local_steps});
    std::ranges::stable_sort(found_, {}, &Proposal::seconds_per_step);
    return std::move(found_);
  }

 private:
  static std::string on(const std::string& file) { return fmt::format("topology=file:{}", file); }

  /// Returns the first that is as fast as the best within the prediction error: nearest to the
  /// file.
  const Proposal& fastest() const {
    const double least =
        std::ranges::min_element(found_, {}, &Proposal::seconds_per_step)->seconds_per_step();
    return *std::ranges::find_if(
        found_, [&](const Proposal& p) { return worth_moving * p.seconds_per_step() <= least; });
  }

  /// Returns the fleet with these keys; nothing if it cannot run.
  std::optional<Assembly> read(const Sets& sets) const {
    Sets all = search_.sets;
    all.insert(all.end(), sets.begin(), sets.end());
    try {
      return std::optional<Assembly>(std::in_place, read_fleet(fleet_.fleet.path, all, nullptr));
    } catch (const FleetError&) {
      return std::nullopt;
    }
  }

  static double steps_of(const Assembly& of) {
    double steps = 0;
    for (PeerId i = 0; i < of.fleet.trainers(); ++i)
      steps += of.algorithm->steps != nullptr ? of.algorithm->steps(*of.setup, i)
                                              : of.setup->steps_of(i);
    return steps / of.fleet.trainers();
  }

  std::optional<Proposal> measured(const Sets& sets) const {
    const std::optional<Assembly> other = read(sets);
    if (!other) return std::nullopt;
    const DryRun dry = dry_run(*other, other->fleet.network);
    return Proposal{.sets = sets,
                    .seconds_per_round = dry.seconds_per_round,
                    .steps = dry.part_done * steps_of(*other)};
  }

  void look_at(const Sets& sets) {
    if (const std::optional<Proposal> found = measured(sets)) found_.push_back(*found);
  }

  /// Adds the best ring with leaves, with each peer in its best place.
  void look_at_leaves() {
    const PeerId n = fleet_.fleet.trainers();
    std::optional<Proposal> best;
    Topology graph;
    for (PeerId leaves = 1; leaves <= most_leaves && leaves + 2 <= n && n <= most_placed;
         ++leaves) {
      search_.write(ring_with_leaves(n, leaves));
      const std::optional<Assembly> as_numbered = read({on(search_.leaf)});
      if (!as_numbered) return;
      const Placement placed = best_placement(*as_numbered);
      search_.write(placed.graph);
      const std::optional<Proposal> found = measured({on(search_.leaf)});
      if (!found || (best && best->seconds_per_round <= found->seconds_per_round)) continue;
      best = found;
      graph = placed.graph;
    }
    if (!best) return;
    search_.write(graph);
    found_.push_back(*best);
  }

  const Assembly& fleet_;
  const ProposalSearch& search_;
  std::vector<Proposal> found_;
};

}  // namespace

DryRun dry_run(const Assembly& fleet, const NetworkSpec& network) {
  const bool alike = !is_drawn(fleet);
  const Round half = rounds_that_tell(fleet);
  SimulationOptions options;
  options.threads = 1;
  options.network = network;
  options.rounds = alike ? 2 * half + rounds_that_empty(fleet) : rounds_of_all(fleet);
  options.replica = blank_replicas(fleet);
  // Measures the second half; the first includes the start, and later rounds the end.
  Time began{0}, ended{0};
  options.on_progress = [&](Round round, Time now) {
    if (round <= half) began = now;
    if (round <= 2 * half) ended = now;
  };
  // Waits for one report more than there are peers, so it never evaluates models.
  Observer blind(fleet.fleet.size() + 1, nullptr, {});
  const Time all = simulate(fleet, blind, options).virtual_time;
  std::uint64_t most = 0;
  Round passed_over = 0;
  for (const auto& [peer, report] : blind.finals()) {
    most = std::max(most, report.costs.sent_bytes);
    passed_over += report.costs.passed_over;
  }
  const auto rounds = static_cast<double>(options.rounds);
  const double of_all = rounds * static_cast<double>(blind.finals().size());
  return {.seconds_per_round = alike ? in_seconds(ended - began) / static_cast<double>(half)
                                     : in_seconds(all) / rounds,
          .bytes_per_round = static_cast<double>(most) / rounds,
          .part_done = 1 - static_cast<double>(passed_over) / of_all};
}

Placement best_placement(const Assembly& fleet) {
  check(fleet);
  const PeerId n = fleet.fleet.trainers();
  const GossipClock clock(fleet);
  Placement best;
  best.peers.resize(n);
  std::iota(best.peers.begin(), best.peers.end(), 0U);
  const std::vector<Neighborhood> rows = rows_of(*fleet.w, best.peers);
  best.seconds = best.seconds_as_numbered = clock.seconds(rows);
  constexpr double most_work = 1e9;
  const auto swaps =
      static_cast<std::size_t>(std::clamp(most_work / clock.work(rows), 300.0, 10'000.0));
  Rng rng = Rng(fleet.fleet.seed).derive("placement");
  std::vector<PeerId> peers = best.peers;
  double seconds = best.seconds;
  for (; n > 2 && best.tried < swaps; ++best.tried) {
    const auto a = static_cast<std::size_t>(rng.below(n));
    const auto b = static_cast<std::size_t>(rng.below(n));
    std::swap(peers[a], peers[b]);
    const double other = a == b ? seconds : clock.seconds(rows_of(*fleet.w, peers));
    if (other > seconds) {
      std::swap(peers[a], peers[b]);
      continue;
    }
    seconds = other;
    if (seconds < best.seconds) {
      best.seconds = seconds;
      best.peers = peers;
    }
  }
  if (best.seconds > worth_moving * best.seconds_as_numbered) {
    std::iota(best.peers.begin(), best.peers.end(), 0U);
    best.seconds = best.seconds_as_numbered;
  }
  best.graph = placed(fleet.topology, best.peers);
  return best;
}

Topology ring_with_leaves(PeerId peers, PeerId leaves) {
  const PeerId ring = peers - leaves;
  std::vector<Edge> edges;
  for (PeerId i = 0; i + 1 < ring; ++i) edges.emplace_back(i, i + 1);
  if (ring > 2) edges.emplace_back(0, ring - 1);
  for (PeerId leaf = 0; leaf < leaves; ++leaf) edges.emplace_back(leaf % ring, ring + leaf);
  return make_topology(fmt::format("ring of {} with {} leaves", ring, leaves), peers, edges);
}

std::vector<Proposal> proposals(const Assembly& fleet, const ProposalSearch& search) {
  return Search(fleet, search).run();
}

}  // namespace gv

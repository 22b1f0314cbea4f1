#include "peer/study/predict/forecast/proposal.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "peer/study/predict/forecast/dry_run.h"

namespace gv {
namespace {

using Sets = std::vector<std::string>;

constexpr double worth_moving = 0.95;  ///< predictions are no better than a few per cent
constexpr PeerId most_leaves = 3;
constexpr PeerId most_placed = 64;  ///< peers for whom graphs with leaves are looked for
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

  /// Returns the first of the fastest, as far as predictions tell: what is nearest to the file.
  const Proposal& fastest() const {
    const double least =
        std::ranges::min_element(found_, {}, &Proposal::seconds_per_step)->seconds_per_step();
    return *std::ranges::find_if(
        found_, [&](const Proposal& p) { return worth_moving * p.seconds_per_step() <= least; });
  }

  /// The fleet with these keys; nothing where it cannot run.
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
    return Proposal{.sets = sets,
                    .seconds_per_round = dry_run(*other, other->fleet.network).seconds_per_round,
                    .steps = steps_of(*other)};
  }

  void look_at(const Sets& sets) {
    if (const std::optional<Proposal> found = measured(sets)) found_.push_back(*found);
  }

  /// The best of them, with each peer where it stands best.
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

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gossip/verbs/verb.h"
#include "tests/peer/sim/between_rounds.h"

// Verbs of programs in virtual time, between rounds of D-PSGD.

namespace gv {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Why = VerbEnd::Why;

/// The calls of each peer, one per round, and their results.
struct Story {
  std::function<VerbCall(PeerId, std::size_t nth)> call;
  std::vector<std::vector<VerbEnd>> ends;  ///< by peer
};
Story* story = nullptr;  ///< for the running fleet

Task<> verbs_between_rounds(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    std::vector<VerbEnd>& ends = story->ends[me.plan.id];
    VerbCall call = story->call(me.plan.id, ends.size());
    VerbEnd end = co_await me.together(std::move(call));
    ends.push_back(std::move(end));
    co_await me.share();
    co_await me.gradient();
    co_await me.mix_and_step();
  }
}

const AlgorithmRow verbs_row = between_rounds("verbs-between-rounds", verbs_between_rounds);

Fleet verbs_fleet(PeerId n, const std::string& graph, Round rounds) {
  static const std::array<const AlgorithmRow*, 1> rows = {&verbs_row};
  static const std::string refused = add_algorithms(rows);
  EXPECT_EQ(refused, "");
  return between_rounds_fleet(verbs_row, n, graph, rounds);
}

SimulationResult tell(Story& told, const Fleet& fleet, SimulationOptions options = {}) {
  told.ends.assign(fleet.size(), {});
  story = &told;
  SimulationResult result = simulate_programs(fleet, std::move(options));
  story = nullptr;
  return result;
}

template <class Element>
std::vector<std::byte> bytes_of(const std::vector<Element>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Element));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class Element>
std::vector<Element> values_of(const std::vector<std::byte>& bytes) {
  std::vector<Element> values(bytes.size() / sizeof(Element));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Draws the values of peer i in its nth call.
template <class Element>
std::vector<Element> drawn(PeerId i, std::size_t nth, std::size_t size) {
  Rng rng = Rng(7).derive("verbs").derive(i).derive(nth);
  std::vector<Element> values(size);
  for (Element& value : values) value = static_cast<Element>(1000 * (rng.uniform() - 0.5));
  return values;
}

constexpr std::array<std::size_t, 7> sizes = {
    0, 1, 3, 1000, piece_floats - 1, piece_floats + 1, 7 * piece_floats + 5};

class VerbsOn : public testing::TestWithParam<GraphOf> {
 protected:
  Fleet fleet(Round rounds) const { return verbs_fleet(GetParam().peers, GetParam().name, rounds); }
  /// Returns the outcomes by peer.
  template <class Element>
  std::vector<std::vector<Element>> outcomes(const Story& told, std::size_t nth) const {
    std::vector<std::vector<Element>> all;
    for (const std::vector<VerbEnd>& ends : told.ends) {
      EXPECT_GT(ends.size(), nth);
      if (ends.size() <= nth) continue;
      EXPECT_EQ(ends[nth].why, Why::done);
      all.push_back(values_of<Element>(ends[nth].data));
    }
    return all;
  }
};

TEST_P(VerbsOn, SumsAreTheSameBitsEverywhereAndAreTheSums) {
  Story told;
  told.call = [](PeerId i, std::size_t nth) {
    return VerbCall{.op = VerbOp::sum, .data = bytes_of(drawn<float>(i, nth, sizes.at(nth)))};
  };
  tell(told, fleet(sizes.size()));
  for (std::size_t nth = 0; nth < sizes.size(); ++nth) {
    const auto all = outcomes<float>(told, nth);
    std::vector<double> sum(sizes[nth]);
    for (PeerId i = 0; i < GetParam().peers; ++i) {
      const auto own = drawn<float>(i, nth, sizes[nth]);
      for (std::size_t k = 0; k < own.size(); ++k) sum[k] += static_cast<double>(own[k]);
    }
    for (const auto& one : all) EXPECT_EQ(one, all.front()) << sizes[nth];
    ASSERT_EQ(all.front().size(), sum.size());
    for (std::size_t k = 0; k < sum.size(); ++k)
      ASSERT_NEAR(static_cast<double>(all.front()[k]), sum[k], 1e-2) << k;
  }
}

TEST_P(VerbsOn, WholeNumbersAndDoublesAndMeansAreExact) {
  constexpr std::size_t size = 70'000;  // two pieces of eight bytes each
  const auto n = static_cast<std::int64_t>(GetParam().peers);
  Story told;
  told.call = [](PeerId i, std::size_t nth) {
    if (nth == 0)
      return VerbCall{.type = VerbType::int64,
                      .data = bytes_of(std::vector<std::int64_t>(size, (1LL << 60) + i))};
    if (nth == 1)
      return VerbCall{.type = VerbType::float64,
                      .data = bytes_of(std::vector<double>(size, 1 + std::ldexp(i, -40)))};
    return VerbCall{.op = VerbOp::mean, .data = bytes_of(std::vector<float>(size, 3.5F))};
  };
  tell(told, fleet(3));
  const std::int64_t ids = n * (n - 1) / 2;
  const auto whole = static_cast<std::int64_t>((static_cast<std::uint64_t>(n) << 60) +
                                               static_cast<std::uint64_t>(ids));
  for (const auto& one : outcomes<std::int64_t>(told, 0))
    EXPECT_EQ(one, std::vector<std::int64_t>(size, whole));
  const double sum = static_cast<double>(n) + std::ldexp(static_cast<double>(ids), -40);
  for (const auto& one : outcomes<double>(told, 1)) EXPECT_EQ(one, std::vector<double>(size, sum));
  for (const auto& one : outcomes<float>(told, 2)) EXPECT_EQ(one, std::vector<float>(size, 3.5F));
}

TEST_P(VerbsOn, EveryRootIsHeardByAll) {
  const PeerId n = GetParam().peers;
  Story told;
  told.call = [n](PeerId i, std::size_t nth) {
    const std::size_t bytes = nth % 3 == 0 ? 0 : nth % 3 == 1 ? 11 : verb_piece_bytes + 3;
    return VerbCall{.op = VerbOp::broadcast,
                    .type = VerbType::bytes,
                    .root = static_cast<PeerId>(nth) % n,
                    .data = std::vector<std::byte>(bytes, std::byte(i + 1))};
  };
  tell(told, fleet(3 * n));
  for (std::size_t nth = 0; nth < std::size_t{3} * n; ++nth)
    for (const auto& one : outcomes<std::uint8_t>(told, nth))
      for (const std::uint8_t byte : one) ASSERT_EQ(byte, nth % n + 1) << nth;
}

/// After the last average no verb keeps the peers together, so a finished peer leaves.
TEST_P(VerbsOn, NeighborsAverageByTheirWeights) {
  Story told;
  told.call = [](PeerId i, std::size_t nth) {
    return VerbCall{.op = VerbOp::neighbor_average,
                    .data = bytes_of(drawn<float>(i, nth, sizes.at(nth)))};
  };
  const Fleet ring = fleet(sizes.size());
  tell(told, ring);
  const MixingMatrix w = *Assembly(ring).w;
  for (std::size_t nth = 0; nth < sizes.size(); ++nth) {
    const auto all = outcomes<float>(told, nth);
    for (PeerId i = 0; i < all.size(); ++i) {
      const Neighborhood row = w.row(i);
      std::vector<double> expected(sizes[nth]);
      for (PeerId j = 0; j < all.size(); ++j) {
        const double weight = i == j ? row.self : row.weight_of(j);
        const auto theirs = drawn<float>(j, nth, sizes[nth]);
        for (std::size_t k = 0; k < theirs.size(); ++k)
          expected[k] += weight * static_cast<double>(theirs[k]);
      }
      ASSERT_EQ(all[i].size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k)
        ASSERT_NEAR(static_cast<double>(all[i][k]), expected[k], 1e-2) << k;
    }
  }
}

/// Links break, frames are late, lost, torn and flipped, peers stand still. Each verb still has its
/// outcome.
TEST_P(VerbsOn, WhatGoesWrongOnTheWayChangesNoOutcome) {
  std::uint64_t faults = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    Story told;
    told.call = [](PeerId i, std::size_t nth) {
      return VerbCall{.op = nth % 4 == 3 ? VerbOp::neighbor_average : VerbOp::sum,
                      .data = bytes_of(std::vector<float>(nth % 5 * 100, static_cast<float>(i)))};
    };
    for (const std::uint64_t count : tell(told, fleet(40), all_but_deaths(seed)).faults)
      faults += count;
    const auto n = static_cast<float>(GetParam().peers);
    for (const std::vector<VerbEnd>& ends : told.ends) {
      ASSERT_EQ(ends.size(), 40U);
      for (std::size_t nth = 0; nth < ends.size(); ++nth) {
        ASSERT_EQ(ends[nth].why, Why::done);
        if (nth % 4 == 3) continue;
        ASSERT_EQ(values_of<float>(ends[nth].data),
                  std::vector<float>(nth % 5 * 100, n * (n - 1) / 2));
      }
    }
  }
  EXPECT_TRUE(faults > 0 || GetParam().peers == 1);
}

class VerbsAmong : public VerbsOn {};

/// A peer without an outcome is informed, and continues its rounds.
TEST_P(VerbsAmong, ADeathEndsVerbsAndNothingElse) {
  for (PeerId victim = 0; victim < GetParam().peers; ++victim) {
    for (const milliseconds at : {milliseconds(2), milliseconds(7), milliseconds(12)}) {
      SCOPED_TRACE(fmt::format("peer {} dies after {} ms", victim, at.count()));
      Story told;
      told.call = [](PeerId, std::size_t nth) {
        return VerbCall{.data = bytes_of(std::vector<float>(nth % 2 == 0 ? 5 : 300'000, 1))};
      };
      SimulationOptions options =
          injecting({{.at = at, .kind = Injection::Kind::kill, .peer = victim}});
      options.faults->judgement = Judgement::ends;
      const SimulationResult result = tell(told, fleet(30), options);
      EXPECT_EQ(result.lost, std::vector<PeerId>{victim});
      for (PeerId i = 0; i < GetParam().peers; ++i) {
        if (i == victim) continue;
        ASSERT_EQ(told.ends[i].size(), 30U) << i;
        EXPECT_EQ(told.ends[i].back().why, Why::died);
        EXPECT_EQ(told.ends[i].back().peer, victim);
        const auto fails = [](const VerbEnd& end) { return end.why != Why::done; };
        EXPECT_TRUE(std::ranges::is_partitioned(told.ends[i], std::not_fn(fails)))
            << "after the first no other has an outcome";
      }
    }
  }
}

TEST_P(VerbsAmong, WhoCallsAnotherVerbIsNoticedByAll) {
  const std::vector<VerbCall> others = {
      {.op = VerbOp::mean, .data = bytes_of(std::vector<float>(8, 1))},
      {.op = VerbOp::broadcast, .data = bytes_of(std::vector<float>(8, 1))},
      {.op = VerbOp::neighbor_average, .data = bytes_of(std::vector<float>(8, 1))},
      {.type = VerbType::float64, .data = bytes_of(std::vector<double>(4, 1))},
      {.mark = 2, .data = bytes_of(std::vector<float>(8, 1))},
      {.data = bytes_of(std::vector<float>(9, 1))}};
  for (PeerId who = 0; who < GetParam().peers; ++who) {
    Story told;
    told.call = [&](PeerId i, std::size_t nth) {
      if (i == who && nth % 2 == 0) return others.at(nth / 2);
      return VerbCall{.mark = 1, .data = bytes_of(std::vector<float>(8, 1))};
    };
    tell(told, fleet(2 * others.size()));
    for (const std::vector<VerbEnd>& ends : told.ends)
      for (std::size_t nth = 0; nth < ends.size(); ++nth)
        EXPECT_EQ(ends[nth].why, nth % 2 == 0 ? Why::disagrees : Why::done)
            << "peer " << who << ", call " << nth;
  }
}

std::string name_of(const testing::TestParamInfo<GraphOf>& graph) {
  return fmt::format("Graph{}", graph.index);
}

const GraphOf alone{"ring", 1};
const std::vector<GraphOf> several{{"ring", 2}, {"ring", 7},        {"star", 5},  {"complete", 4},
                                   {"path", 6}, {"binary-tree", 9}, {"torus", 9}, {"hypercube", 8}};

INSTANTIATE_TEST_SUITE_P(Alone, VerbsOn, testing::Values(alone), name_of);
INSTANTIATE_TEST_SUITE_P(Graphs, VerbsOn, testing::ValuesIn(several), name_of);
INSTANTIATE_TEST_SUITE_P(Graphs, VerbsAmong, testing::ValuesIn(several), name_of);

/// Every connected graph has a tree in which each peer has one parent, nearer to the root.
TEST(VerbTrees, SpanDrawnGraphsByShortestWays) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng = Rng(seed).derive("graph");
    const auto n = static_cast<PeerId>(1 + rng.below(12));
    std::vector<std::set<PeerId>> linked(n);
    const auto link = [&](PeerId i, PeerId j) {
      if (i == j) return;
      linked[i].insert(j);
      linked[j].insert(i);
    };
    for (PeerId i = 1; i < n; ++i)
      if (seed % 4 != 0 || i != n / 2) link(i, static_cast<PeerId>(rng.below(i)));
    for (PeerId k = 0; k < n / 2; ++k)
      link(static_cast<PeerId>(rng.below(n)), static_cast<PeerId>(rng.below(n)));
    std::vector<std::vector<PeerId>> links;
    for (const std::set<PeerId>& each : linked) links.emplace_back(each.begin(), each.end());
    std::vector<std::size_t> far(n, n);
    far[0] = 0;
    for (PeerId time = 0; time < n; ++time)
      for (PeerId i = 0; i < n; ++i)
        for (const PeerId j : links[i]) far[j] = std::min(far[j], far[i] + 1);
    const std::vector<VerbTree> tree = spanning_tree(links, n);
    EXPECT_EQ(tree.empty(), std::ranges::count(far, n) > 0) << seed;
    for (PeerId i = 1; i < tree.size(); ++i) {
      ASSERT_TRUE(tree[i].parent) << seed;
      EXPECT_TRUE(linked[i].contains(*tree[i].parent));
      EXPECT_EQ(far[*tree[i].parent] + 1, far[i]) << seed;
      EXPECT_EQ(std::ranges::count(tree[*tree[i].parent].children, i), 1);
    }
  }
}

/// Workers without links to each other are connected through a server, which relays their calls.
TEST(VerbTrees, LeadThroughServersThatAreNeededAndNoOthers) {
  const std::vector<VerbTree> tree =
      spanning_tree({{3, 4}, {3, 4}, {3, 4}, {0, 1, 2}, {0, 1, 2}}, 3);
  ASSERT_EQ(tree.size(), 5U);
  EXPECT_EQ(tree[0].children, std::vector<PeerId>{3});
  EXPECT_EQ(tree[3].children, (std::vector<PeerId>{1, 2}));
  EXPECT_FALSE(tree[4].parent);
  EXPECT_TRUE(tree[4].children.empty());
}

}  // namespace
}  // namespace gv

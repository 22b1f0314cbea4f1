#include <gtest/gtest.h>

#include "tests/peer/fleet/local_step_rows.h"
#include "tests/peer/fleet/test_fleet.h"
#include "tests/peer/wire/tcp/loopback_fleet.h"
#include "tests/peer/wire/tcp/proxy.h"

namespace gv {
namespace {

/// A fleet whose connections all go through a proxy that damages them.
struct HarmedFleet {
  HarmedFleet(const Assembly& assembly, Harm harm, std::uint64_t seed) : fleet(assembly) {
    for (PeerAddress& address : fleet.addresses) {
      proxies.push_back(std::make_unique<Proxy>(address.port, harm, seed * 100 + address.peer));
      address.port = proxies.back()->port();
    }
  }
  LoopbackFleet fleet;
  std::vector<std::unique_ptr<Proxy>> proxies;
};

Outcome bits_over_tcp(const Assembly& assembly) {
  LoopbackFleet fleet(assembly);
  fleet.run();
  EXPECT_EQ(fleet.log, "");
  return {fleet.observer.params_hash(), fleet.observer.summary()->costs.sent_bytes};
}

void expect_same_bits(const Fleet& fleet) {
  const Assembly assembly(fleet);
  const Outcome tcp = bits_over_tcp(assembly);
  const Outcome simulated = in_virtual_time(assembly);
  EXPECT_EQ(tcp.hash, simulated.hash);
  // With `hands_samples`, the help between peers depends on their speed at the moment.
  if (!assembly.algorithm->hands_samples) {
    EXPECT_EQ(tcp.sent_bytes, simulated.sent_bytes);
  }
}

struct Rule {
  const char* algorithm;
  const char* order;
};
class SameBits : public testing::TestWithParam<Rule> {};

/// Sizes of fleets and models: all for one rule, and only the extremes for the other rules, which
/// share its exchanges.
struct Sizes {
  std::vector<PeerId> peers;
  std::vector<std::uint32_t> dimensions;
};
Sizes sizes_for(const Rule& rule) {
  if (std::string(rule.order) == "lian") return {{1, 2, 3, 8, 9}, {1, 2, 1000, 131'072, 200'000}};
  return {{1, 9}, {1, 200'000}};
}

TEST_P(SameBits, OverTcpAndInVirtualTime) {
  const auto [peers, dimensions] = sizes_for(GetParam());
  for (const PeerId n : peers) {
    for (const std::uint32_t d : dimensions) {
      SCOPED_TRACE(testing::Message() << "n " << n << ", d " << d);
      Fleet fleet = quadratic_fleet(n, "ring", GetParam().algorithm, GetParam().order);
      fleet.data.quadratic = {.dimension = d,
                              .hessian = {1, 0.5, 0.1},
                              .noise = 1,
                              .spread = 1,
                              .start = 0,
                              .centers = {}};
      fleet.optimizer.momentum = 0.9;
      fleet.stop.rounds = 5;
      fleet.evaluate_every = 2;
      expect_same_bits(fleet);
    }
  }
}

TEST_P(SameBits, WithSharesOfUnequalSizes) {
  Fleet fleet = quadratic_fleet(8, "ring", GetParam().algorithm, GetParam().order);
  fleet.data = {};
  fleet.data.train = 1000;
  fleet.data.test = 100;
  fleet.data.partition = {.kind = "quantity", .sizes = {3, 10, 40, 100, 7, 200, 33, 64}};
  fleet.model = {"mlp", {{"hidden", Widths{32}}}};
  fleet.stop.rounds = 30;
  expect_same_bits(fleet);
  if (std::string_view(GetParam().algorithm) != "d-psgd") return;
  fleet.weights = "shares";
  expect_same_bits(fleet);
}

TEST_P(SameBits, OnOtherGraphs) {
  for (const char* graph : {"torus:3x3", "star", "complete", "exponential"}) {
    SCOPED_TRACE(graph);
    Fleet fleet = quadratic_fleet(9, graph, GetParam().algorithm, GetParam().order);
    fleet.stop.rounds = 20;
    expect_same_bits(fleet);
  }
}

struct Changing {
  const char* schedule;
  PeerId peers;
};
constexpr Changing changing[] = {{"one-peer-exponential", 8},
                                 {"one-peer-exponential", 6},
                                 {"one-peer-exponential", 2},
                                 {"random-matching", 7},
                                 {"random-matching", 8},
                                 {"base:k=1", 6},
                                 {"base:k=2", 8},
                                 {"od-equi-dyn", 6},
                                 {"ou-equi-dyn:m=3,seed=3", 7},
                                 {"matcha:budget=0.4,graph=torus:3x3", 9}};

TEST_P(SameBits, OnGraphsThatChangeWithTheRound) {
  for (const auto& [schedule, n] : changing) {
    for (const std::uint32_t d : {10U, 200'000U}) {
      SCOPED_TRACE(testing::Message() << schedule << " on " << n << ", d " << d);
      Fleet fleet = quadratic_fleet(n, schedule, GetParam().algorithm, GetParam().order);
      fleet.data.quadratic.dimension = d;
      fleet.data.quadratic.spread = 1;
      fleet.stop.rounds = d == 10 ? 200 : 20;
      expect_same_bits(fleet);
    }
  }
}

/// Scales harm down: with payloads in shared memory a connection carries fewer bytes.
Harm scaled(Harm harm, LocalTransport local) {
  if (local == LocalTransport::tcp) return harm;
  harm.cut_after /= 3;
  harm.flip_after /= 3;
  return harm;
}

int harms_of(const HarmedFleet& harmed) {
  int harms = 0;
  for (const auto& proxy : harmed.proxies) harms += proxy->cuts() + proxy->flips();
  return harms;
}

constexpr LocalTransport both_ways[] = {LocalTransport::tcp, LocalTransport::shared};

/// Data lost with a connection are sent again over the next one, once. The bits are those of an
/// undisturbed run.
TEST_P(SameBits, WhateverBecomesOfConnections) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const char* graph = seed < 3 ? "ring" : "random-matching";
    Fleet file = quadratic_fleet(5, graph, GetParam().algorithm, GetParam().order);
    file.seed = seed;
    file.data.quadratic.dimension = 500;
    file.data.quadratic.spread = 1;
    file.stop.rounds = 150;
    const std::string undisturbed = in_virtual_time(Assembly(file)).hash;
    for (const Harm harm : {Harm{.cut_after = 30'000}, Harm{.flip_after = 60'000}}) {
      for (const LocalTransport local : both_ways) {
        file.network.local = local;
        const Assembly assembly(file);
        HarmedFleet harmed(assembly, scaled(harm, local), seed);
        harmed.fleet.run();
        EXPECT_GE(harms_of(harmed), local == LocalTransport::tcp ? 10 : 1);
        EXPECT_EQ(harmed.fleet.observer.params_hash(), undisturbed)
            << "seed " << seed << ", " << harms_of(harmed) << " times\n"
            << harmed.fleet.log;
      }
    }
  }
}

/// A row that promises the same bits.
class BitsOfRow : public testing::TestWithParam<const AlgorithmRow*> {};

TEST_P(BitsOfRow, HasTheSameBitsOverTcpAndInVirtualTime) {
  for (const std::uint32_t d : {1U, 50U, 200'000U}) {
    Fleet fleet = row_fleet(*GetParam());
    fleet.data.quadratic.dimension = d;
    fleet.evaluate_every = 5;
    expect_same_bits(fleet);
  }
}

/// Some rows need powers of two.
TEST_P(BitsOfRow, HasThemInFleetsOfOtherSizes) {
  const bool doubles = GetParam()->order == "doubling";
  for (const PeerId n : {doubles ? 4U : 3U, doubles ? 16U : 9U})
    expect_same_bits(row_fleet(*GetParam(), n));
}

TEST_P(BitsOfRow, HasThemInEveryCodec) {
  for (const Codec& codec : codecs_of(*GetParam())) {
    SCOPED_TRACE(to_string(codec));
    Fleet fleet = row_fleet(*GetParam());
    fleet.data.quadratic.dimension = 1000;
    fleet.codec = codec;
    expect_same_bits(fleet);
  }
}

TEST_P(BitsOfRow, HasThemWhateverBecomesOfConnections) {
  Fleet file = row_fleet(*GetParam());
  file.data.quadratic.dimension = 500;
  file.stop.rounds = 60;
  const std::string undisturbed = in_virtual_time(Assembly(file)).hash;
  for (const LocalTransport local : both_ways) {
    file.network.local = local;
    const Assembly assembly(file);
    HarmedFleet harmed(assembly, scaled({.cut_after = 30'000}, local), 1);
    harmed.fleet.run();
    if (GetParam()->promise != Promise::nothing) {
      EXPECT_GE(harms_of(harmed), local == LocalTransport::tcp ? 5 : 1);
    }
    EXPECT_EQ(harmed.fleet.observer.params_hash(), undisturbed) << harmed.fleet.log;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         BitsOfRow,
                         testing::ValuesIn(synchronous_rows()),
                         [](const auto& row) { return name_of(*row.param); });

/// With parts under way during inner steps, and servers that exchange parts.
TEST(BitsOfServers, AreTheSameWithADelay) {
  for (const double merge : {0, 1}) {
    Fleet fleet = row_fleet(*find_algorithm("decoupled-diloco", ""), 5);
    fleet.settings = {{"servers", 3}, {"delay", 2}, {"merge", merge}};
    fleet.codec = Codec{.kind = Codec::Kind::top_k, .fraction = 0.3};
    expect_same_bits(fleet);
  }
}

class BitsOfLocalSteps : public testing::TestWithParam<const AlgorithmRow*> {};

TEST_P(BitsOfLocalSteps, AreTheSameWhereTheyAreUnequal) {
  Fleet fleet = row_fleet(*GetParam(), 4);
  if (!takes_equal_steps(*GetParam())) fleet.own_steps = {7, 2, 2, 1};
  if (GetParam()->kind != "scaffold") fleet.optimizer.schedule.kind = "cosine";
  fleet.evaluate_every = 5;
  expect_same_bits(fleet);
}

INSTANTIATE_TEST_SUITE_P(Registry,
                         BitsOfLocalSteps,
                         testing::ValuesIn(rows_with_local_steps()),
                         [](const auto& row) { return name_of(*row.param); });

INSTANTIATE_TEST_SUITE_P(EveryRule,
                         SameBits,
                         testing::Values(Rule{"d-psgd", "lian"},
                                         Rule{"d-psgd", "atc"},
                                         Rule{"d-psgd", "cta"},
                                         Rule{"all-reduce", ""}),
                         [](const auto& row) {
                           const std::string name =
                               std::string(row.param.algorithm) + "_" + row.param.order;
                           std::string plain;
                           for (const char c : name) plain += c == '-' ? '_' : c;
                           return plain;
                         });

}  // namespace
}  // namespace gv

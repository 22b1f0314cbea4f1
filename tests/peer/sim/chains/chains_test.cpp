#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "tests/peer/sim/chains/chain_fleets.h"

// Chains of peers must end with the results of peers with whole models. Those share no code with
// the division, the channels and the order of turns.

namespace gv {
namespace {

void expect_same_course(const ChainRun& chains, const ChainRun& whole, const std::string& of) {
  EXPECT_EQ(chains.hashes.params, whole.hashes.params) << of;
  EXPECT_EQ(chains.hashes.model, whole.hashes.model) << of;
  ASSERT_EQ(chains.records.size(), whole.records.size()) << of;
  for (std::size_t k = 0; k < chains.records.size(); ++k) {
    const FleetRecord& a = chains.records[k];
    const FleetRecord& b = whole.records[k];
    EXPECT_EQ(a.round, b.round) << of;
    EXPECT_EQ(a.peers, b.peers) << of;
    EXPECT_EQ(a.mean.loss, b.mean.loss) << of;
    EXPECT_EQ(a.mean.accuracy, b.mean.accuracy) << of;
    EXPECT_EQ(a.loss_local, b.loss_local) << of;
    EXPECT_EQ(a.train_loss, b.train_loss) << of;
    EXPECT_EQ(a.accuracy_min, b.accuracy_min) << of;
    EXPECT_EQ(a.costs.samples, b.costs.samples) << of;
    EXPECT_NEAR(a.consensus, b.consensus, 1e-9 * (1 + b.consensus)) << of;
  }
}

/// A sum along a ring of three or more adds each element in an order that depends on its chunk, and
/// a part of a model has other chunks.
bool sums_along_ring(const AlgorithmRow& row) {
  return row.links != nullptr &&
         (row.order == "ring" || row.kind == "local-sgd" || row.kind == "diloco" ||
          row.kind == "slowmo" || row.kind == "gossip-pga");
}

bool takes_local_steps(const AlgorithmRow& row) {
  return row.kind == "d-psgd" || row.kind == "local-sgd" || row.kind == "diloco" ||
         row.kind == "slowmo" || row.kind == "isolated";
}

std::string method_text(const AlgorithmRow& row, const std::string& codec) {
  std::string text = fmt::format("{{ kind: {}", row.kind);
  if (!row.order.empty()) text += fmt::format(", order: {}", row.order);
  if (row.kind == "gossip-pga") text += ", every: 2";
  if (!codec.empty()) text += fmt::format(", codec: {}", codec);
  return text + " }";
}

TEST(Chains, OfEveryDrawnShapeHaveTheBitsOfWholePeers) {
  for (std::uint64_t k = 0; k < 60; ++k) {
    Rng rng = Rng(7).derive("chains").derive(k);
    ChainFleet drawn = draw_chains(rng);
    drawn.method = one_of<std::string>(
        rng, {"{ kind: d-psgd, order: lian }", "{ kind: d-psgd, order: atc }",
              "{ kind: d-psgd, order: cta }", "{ kind: gradient-tracking }", "{ kind: isolated }"});
    if (drawn.method.find("tracking") != std::string::npos) drawn.local_steps = 1;
    expect_same_course(run_chains(drawn.assembly()), run_chains(drawn.whole().assembly()),
                       drawn.text());
  }
}

TEST(Chains, OfOneStageAndOneMicrobatchChangeNothing) {
  for (std::uint64_t k = 0; k < 12; ++k) {
    Rng rng = Rng(8).derive("plain").derive(k);
    ChainFleet drawn = draw_chains(rng);
    drawn.microbatches = 1;
    ChainFleet plain = drawn;
    plain.stages = 0;
    expect_same_course(run_chains(drawn.whole().assembly()), run_chains(plain.assembly()),
                       drawn.text());
  }
}

TEST(Chains, RunEveryMethodThatActsByCoordinate) {
  std::size_t rows = 0;
  for (const AlgorithmRow* row : algorithms()) {
    if (!row->by_coordinate) continue;
    ++rows;
    std::vector<std::string> codecs{""};
    if (row->codecs != Codecs::none) codecs = {"", "fp16", "bf16"};
    for (const std::string& codec : codecs) {
      for (const PeerId chains : {2U, 4U}) {
        ChainFleet fleet;
        fleet.chains = chains;
        fleet.stages = 3;
        fleet.local_steps = takes_local_steps(*row) ? 3 : 1;
        fleet.method = method_text(*row, codec);
        fleet.optimizer = "{ kind: sgd, lr: 0.05 }";
        fleet.topology = "{ kind: ring, weights: lazy }";
        if (row->kind == "relay-sgd") fleet.topology = "path";
        if (row->kind == "sgp") fleet.topology = "{ kind: ring, weights: push-sum }";
        const std::string of = fleet.text();
        const ChainRun parts = run_chains(fleet.assembly());
        const ChainRun whole = run_chains(fleet.whole().assembly());
        // In a codec, parts of a sum are rounded when they are passed on, which differs here.
        if (!sums_along_ring(*row) || (chains == 2 && codec.empty())) {
          expect_same_course(parts, whole, of);
          continue;
        }
        ASSERT_EQ(parts.records.size(), whole.records.size()) << of;
        EXPECT_NEAR(parts.records.back().mean.loss, whole.records.back().mean.loss,
                    codec.empty() ? 1e-5 : 1e-2)
            << of;
      }
    }
  }
  EXPECT_GE(rows, 14U);
}

TEST(Chains, FollowAScheduleOfModels) {
  ChainFleet fleet;
  fleet.chains = 4;
  fleet.stages = 3;
  fleet.topology = "one-peer-exponential";
  expect_same_course(run_chains(fleet.assembly()), run_chains(fleet.whole().assembly()),
                     fleet.text());
}

TEST(Chains, MayBeCutWhereTheFileSays) {
  ChainFleet fleet;
  fleet.stages = 0;
  fleet.chains = 4;
  fleet.more = "parallel: { stages: [fc1, fc4], microbatches: 2 }\n";
  ChainFleet equal;
  const ChainRun named = run_chains(fleet.assembly());
  EXPECT_EQ(named.hashes.params, run_chains(equal.assembly()).hashes.params);
  EXPECT_EQ(fleet.assembly().division->names(), (std::vector<std::string>{"fc1", "fc4"}));
}

TEST(Chains, StandWhereTheFilePutsThem) {
  ChainFleet fleet;
  fleet.stages = 0;
  fleet.chains = 4;
  const auto peers = [&](const std::string& place) {
    fleet.more = "parallel: { stages: 2, microbatches: 2" + place + " }\n";
    return fleet.assembly();
  };
  EXPECT_EQ(run_chains(peers("")).hashes.params,
            run_chains(peers(", place: [0, 2, 1, 3]")).hashes.params);
  EXPECT_EQ(peers("").fleet.digest, peers(", place: [3, 2, 1, 0]").fleet.digest);
}

}  // namespace
}  // namespace gv

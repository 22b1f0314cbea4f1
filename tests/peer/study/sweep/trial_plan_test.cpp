#include "peer/study/sweep/plan/trial_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "peer/study/sweep/sweep_folder.h"
#include "tests/peer/study/sweep/sweep_fixture.h"

namespace gv {
namespace {

using TrialPlan = SweepFolders;

constexpr const char* networks =
    "vary:\n"
    "  method: { gossip: { topology: ring }, async: { algorithm: ad-psgd } }\n"
    "  network: { near: { network: { latency: 1 ms } }, far: { network: { latency: 9 ms } } }\n"
    "seeds: 3\n"
    "target: { loss: 0.1 }\n"
    "tune: { with: { train.optimizer.lr: { log: [0.01, 0.3] } }, trials: 4, by: random }\n";

/// A synchronous method computes the same on every network and is tuned once, unlike an
/// asynchronous method.
TEST_F(TrialPlan, FamiliesAreCellsThatComputeTheSame) {
  const SweepPlan p = plan(networks);
  ASSERT_EQ(p.families.size(), 3U);
  EXPECT_EQ(p.families[0].cells, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(p.families[0].label, "gossip");
  EXPECT_TRUE(p.families[0].synchronous);
  EXPECT_FALSE(p.families[1].synchronous);
  EXPECT_EQ(p.families[2].label, "async far");
}

TEST_F(TrialPlan, TuningHasSeedsOfItsOwnAndComesFirst) {
  const SweepPlan p = plan(networks);
  EXPECT_EQ(p.seeds, (std::vector<std::uint64_t>{5, 6, 7}));
  for (const std::uint64_t seed : p.tuning_seeds) EXPECT_EQ(std::ranges::count(p.seeds, seed), 0);
  EXPECT_EQ(p.slots.size(), 3U * 4 * 2 + 4 * 3);
  for (std::size_t s = 0; s < p.slots.size(); ++s) {
    EXPECT_EQ(p.slots[s].number, s + 1);
    EXPECT_EQ(p.slots[s].stage == TrialSlot::Stage::tune, s < 24);
  }
  // Seeds alternate between the methods, so that drift affects all methods equally.
  for (std::size_t s = 24; s < p.slots.size(); ++s) EXPECT_EQ(p.slots[s].seed, 5 + (s - 24) / 4);
  EXPECT_EQ(p.slots[24].folder, "0025-gossip-near-s5");
}

TEST_F(TrialPlan, ItIsTheSameEachTime) {
  const SweepPlan a = plan(networks);
  const SweepPlan b = plan(networks);
  for (std::size_t s = 0; s < a.slots.size(); ++s) EXPECT_EQ(a.slots[s].folder, b.slots[s].folder);
}

/// Numbers never change. A changed file gets further numbers at the end.
TEST_F(TrialPlan, NumbersNeverMove) {
  const std::string text = networks;
  SweepPlan before = plan(text);
  const SweepFolder folder(before.file.output_dir);
  folder.remember(before);
  std::string more = text;
  more.replace(more.find("seeds: 3"), 8, "seeds: 5");
  SweepPlan after = plan(more);
  folder.remember(after);
  std::set<std::size_t> numbers;
  for (const TrialSlot& slot : after.slots) EXPECT_TRUE(numbers.insert(slot.number).second);
  for (const TrialSlot& slot : before.slots) {
    const auto same = std::ranges::find(after.slots, slot.key, &TrialSlot::key);
    ASSERT_NE(same, after.slots.end());
    EXPECT_EQ(same->folder, slot.folder);
  }
  EXPECT_EQ(after.slots.back().number, before.slots.size() + 8);
}

TEST_F(TrialPlan, WhatIsTunedOnlySomewhereMakesNoTrialsElsewhere) {
  const SweepPlan p = plan(
      "vary: { method: { a: { algorithm: all-reduce }, e: { algorithm: { kind: easgd, alpha: 0.1 } "
      "} } }\n"
      "target: { loss: 0.1 }\n"
      "tune: { with: { algorithm.alpha: { lin: [0.05, 0.25], of: { method: e } } }, trials: 3 }\n");
  ASSERT_EQ(p.families.size(), 2U);
  EXPECT_TRUE(p.families[0].brackets.empty());
  EXPECT_EQ(p.families[1].brackets[0].points.size(), 3U);
  const auto sets = p.sets_of(1, p.families[1].brackets[0].points[1], 5);
  EXPECT_EQ(sets, (std::vector<std::string>{"algorithm={kind: easgd, alpha: 0.1}",
                                            "algorithm.alpha=0.15", "seed=5"}));
}

/// All values of each list and no other trial, in families with different knobs.
TEST_F(TrialPlan, AGridIsAsLargeAsTheKnobsOfTheFamily) {
  const SweepPlan p = plan(
      "vary: { method: { a: { algorithm: all-reduce }, e: { algorithm: { kind: easgd, alpha: 0.1 } "
      "} } }\n"
      "target: { loss: 0.1 }\n"
      "tune:\n"
      "  by: grid\n"
      "  seeds: 2\n"
      "  with:\n"
      "    train.optimizer.lr: [0.01, 0.03, 0.1]\n"
      "    algorithm.alpha: { list: [0.05, 0.2], of: { method: e } }\n");
  ASSERT_EQ(p.families.size(), 2U);
  std::map<std::size_t, std::set<std::pair<std::size_t, std::uint64_t>>> places;
  for (const TrialSlot& slot : p.slots) {
    if (slot.stage != TrialSlot::Stage::tune) continue;
    EXPECT_TRUE(places[slot.family].insert({slot.place, slot.seed}).second);
  }
  EXPECT_EQ(places[0].size(), 3U * 2);
  EXPECT_EQ(places[1].size(), 6U * 2);
}

/// A run with a target may stop in another round on another network.
TEST_F(TrialPlan, ATargetInTheFleetFileTiesBitsToTheClock) {
  const SweepPlan p = plan(networks);
  const Fleet near = read_fleet(p.file.base, p.sets_of(0, {}, 5), nullptr);
  Fleet far = read_fleet(p.file.base, p.sets_of(1, {}, 5), nullptr);
  EXPECT_EQ(identity_of(near).bits, identity_of(far).bits);
  EXPECT_NE(identity_of(near).clock, identity_of(far).clock);
  Fleet stopping = near;
  stopping.stop.target = far.stop.target = TargetSpec{.value = 0.5};
  EXPECT_NE(identity_of(stopping).bits, identity_of(far).bits);
}

}  // namespace
}  // namespace gv

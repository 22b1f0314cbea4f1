#include "peer/study/compare/critical_path.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/formats/npy_matrix.h"
#include "optim/rng.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

constexpr std::size_t compute = 0, mix = 1, late = 3, wire = 4;

StoredMoment stay(std::size_t state,
                  double begin,
                  double end,
                  std::optional<std::uint64_t> with = {}) {
  return {.round = 0, .state = state, .begin = begin, .end = end, .with = with};
}

/// Peer 0 waits for 1, which waits for 2, whose gradient takes 9 of 10 seconds.
TEST(CriticalPath, LeadsToThePeerThatHoldsUpTheOthers) {
  const CriticalPath path = critical_path({{stay(compute, 0, 1), stay(late, 1, 10, 1)},
                                           {stay(compute, 0, 1), stay(late, 1, 10, 2)},
                                           {stay(compute, 0, 9), stay(mix, 9, 10)}});
  EXPECT_NEAR(path.seconds, 10, 1e-12);
  EXPECT_NEAR(path.states[compute], 9, 1e-12);
  EXPECT_NEAR(path.states[mix], 1, 1e-12);
  EXPECT_EQ(path.states[late], 0);
  ASSERT_EQ(path.by_peer.size(), 1U);
  EXPECT_EQ(path.by_peer.begin()->first, 2U);
  EXPECT_EQ(to_string(path), "90 % compute of peer 2, 10 % mix of peer 2");
}

/// The message leaves at 2 and arrives at 8. The sender computes until 2.
TEST(CriticalPath, GoesOverTheWire) {
  const CriticalPath path = critical_path(
      {{stay(compute, 0, 1), stay(late, 1, 2, 1), stay(wire, 2, 8, 1), stay(mix, 8, 9)},
       {stay(compute, 0, 2), stay(compute, 2, 4)}});
  EXPECT_NEAR(path.seconds, 9, 1e-12);
  EXPECT_NEAR(path.states[wire], 6, 1e-12);
  EXPECT_NEAR(path.by_peer.at(1)[compute], 2, 1e-12);
  EXPECT_NEAR(path.by_peer.at(0)[mix], 1, 1e-12);
  EXPECT_EQ(to_string(path), "67 % wire of peer 0, 22 % compute of peer 1, 11 % mix of peer 0");
  ASSERT_EQ(path.chain.size(), 2U);
  EXPECT_EQ(path.chain[0].peer, 1U);
  EXPECT_NEAR(path.chain[0].begin, 0, 1e-12);
  EXPECT_NEAR(path.chain[0].end, 2, 1e-12);
  EXPECT_EQ(path.chain[1].peer, 0U);
  EXPECT_NEAR(path.chain[1].begin, 2, 1e-12);
  EXPECT_NEAR(path.chain[1].end, 9, 1e-12);
}

TEST(CriticalPath, NamesNobodyAmongEquals) {
  const std::vector<StoredMoment> each{stay(compute, 0, 1), stay(wire, 1, 3), stay(compute, 3, 4)};
  EXPECT_EQ(to_string(critical_path({each, each, each})), "50 % compute, 50 % wire");
}

TEST(CriticalPath, CountsGapsAsOther) {
  const CriticalPath path = critical_path({{stay(compute, 0, 1), stay(compute, 3, 4)}});
  EXPECT_NEAR(path.seconds, 4, 1e-12);
  EXPECT_NEAR(path.states[7], 2, 1e-12);
}

/// A path covers the last consecutive rounds that all peers kept, which may be few. The text names
/// these rounds; it once read as if they were the whole run.
TEST(CriticalPath, SaysOfWhichRoundsItIs) {
  const ScratchFolder folder;
  const auto keep = [&](int peer, const std::vector<double>& rounds) {
    const std::string own = fmt::format("{}/peers/{:03}", folder.path(), peer);
    std::filesystem::create_directories(own);
    NpyMatrix m{.rows = rounds.size(), .columns = 5, .single_precision = false, .values = {}};
    for (const double round : rounds)
      m.values.insert(m.values.end(), {round, compute, round, round + 1, -1});
    std::ofstream(own + "/moments.0.npy", std::ios::binary) << npy_bytes(m);
  };
  keep(0, {2, 3, 7, 8, 9});
  keep(1, {6, 7, 8, 9, 10});
  StoredRun run;
  run.path = folder.path();
  run.peers = 2;
  const auto path = critical_path_of(run);
  ASSERT_TRUE(path);
  EXPECT_EQ(rounds_text(*path), "rounds 7 to 9");
  keep(1, {9, 10});
  EXPECT_EQ(rounds_text(*critical_path_of(run)), "round 9");
}

/// The path also ends with damaged records: peers that wait for each other, themselves or none.
TEST(CriticalPath, EndsWhateverTheRecordsSay) {
  EXPECT_EQ(critical_path({}).seconds, 0);
  EXPECT_EQ(critical_path({{}, {}}).seconds, 0);
  EXPECT_NEAR(critical_path({{stay(late, 0, 5, 1)}, {stay(late, 0, 5, 0)}}).seconds, 5, 1e-12);
  EXPECT_NEAR(critical_path({{stay(late, 0, 5, 0)}}).seconds, 5, 1e-12);
  EXPECT_NEAR(critical_path({{stay(late, 0, 5, 77)}}).seconds, 5, 1e-12);
  Rng rng(5);
  for (int draw = 0; draw < 300; ++draw) {
    std::vector<std::vector<StoredMoment>> peers(4);
    for (auto& moments : peers) {
      double now = rng.uniform();
      for (int k = 0; k < 20; ++k) {
        const double begin = now + (rng.below(3) == 0 ? rng.uniform() : 0);
        now = begin + (rng.below(4) == 0 ? 0 : rng.uniform());
        moments.push_back(stay(rng.below(8), begin, now, rng.below(6)));
      }
    }
    const CriticalPath path = critical_path(peers);
    double sum = 0;
    for (const double seconds : path.states) sum += seconds;
    EXPECT_NEAR(sum, path.seconds, 1e-9);
    EXPECT_GT(path.seconds, 0);
  }
}

}  // namespace
}  // namespace gv

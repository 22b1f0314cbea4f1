#include <map>
#include <set>

#include <gtest/gtest.h>

#include "gossip/seam/stage.h"

namespace gv {
namespace {

StagePlan stage(PeerId s, PeerId stages, bool sync) {
  return {.stage = s, .stages = stages, .flush = false, .vertical_sync = sync};
}

/// PipeDream, section 3.3: for minibatch k, w_s is the version after k - (p - 1 - s) steps, or with
/// vertical sync after k - (p - 1) steps at all stages.
TEST(StageVersions, AreAsOldAsPipeDreams) {
  const StagePlan first = stage(0, 4, false);
  EXPECT_EQ(version_of(first, 0), 0U);
  EXPECT_EQ(version_of(first, 3), 0U);
  EXPECT_EQ(version_of(first, 4), 1U);
  EXPECT_EQ(version_of(stage(2, 4, false), 4), 3U);
  EXPECT_EQ(version_of(stage(3, 4, false), 4), 4U);
  for (PeerId s = 0; s < 4; ++s) {
    EXPECT_EQ(version_of(stage(s, 4, true), 2), 0U);
    EXPECT_EQ(version_of(stage(s, 4, true), 9), 6U);
    EXPECT_EQ(window_of(first, s), 3 - s);
  }
}

TEST(StageVersions, OfAChainThatFlushesAreThoseOfNow) {
  const StagePlan flushes{.stage = 1, .stages = 4, .microbatches = 8, .ahead = 2};
  EXPECT_EQ(kept_versions(flushes), 0U);
  EXPECT_EQ(version_of(flushes, 17), 17U);
  EXPECT_EQ(window_of(flushes, 1), 4U);
  EXPECT_EQ(window_of(flushes, 0), 6U);
}

/// The ring as Chain uses it: before gradient j, x is version j, and afterwards it replaces the
/// oldest. Every version needed in between is there, and a stage has p - s versions of p, or p.
TEST(StageVersions, LieInARingUntilNobodyNeedsThem) {
  for (PeerId p = 1; p <= 6; ++p)
    for (PeerId s = 0; s < p; ++s)
      for (const bool sync : {false, true}) {
        const StagePlan plan = stage(s, p, sync);
        EXPECT_EQ(kept_versions(plan) + 1, sync ? p : p - s);
        std::map<std::string, std::uint64_t> ring;
        std::uint64_t next = 0;
        const auto has = [&](std::uint64_t minibatch, std::uint64_t now) {
          const std::uint64_t version = version_of(plan, minibatch);
          return version == now || ring.at(name_of_version(plan, version)) == version;
        };
        for (std::uint64_t j = 0; j < 30; ++j) {
          for (; next <= j + window_of(plan, s); ++next) EXPECT_TRUE(has(next, j));
          EXPECT_TRUE(has(j, j));
          if (kept_versions(plan) > 0) ring[name_of_version(plan, j)] = j;
        }
        EXPECT_EQ(ring.size(), kept_versions(plan));
      }
}

}  // namespace
}  // namespace gv

#include <filesystem>

#include "peer/study/sweep/trial_job.h"
#include "tests/peer/study/sweep/sweep_fixture.h"
#include "tests/places.h"

namespace gv {
namespace {

using TrialMemory = SweepFolders;

TEST_F(TrialMemory, LetsAsManyTrialsRunAsItHolds) {
  MemoryRoom room{.trial_bytes = 1e9, .free_bytes = 10'000'000'000};
  EXPECT_EQ(room.fitting(4), 4U);
  EXPECT_EQ(room.fitting(9), 9U) << "a tenth stays free";
  EXPECT_EQ(room.fitting(10), 9U);
  EXPECT_EQ(room.fitting(1000), 9U);
  room.trial_bytes = 3.1e9;
  EXPECT_EQ(room.fitting(4), 2U);
  room.trial_bytes = 1e12;
  EXPECT_EQ(room.fitting(4), 1U) << "one is tried";
  room.free_bytes.reset();
  EXPECT_EQ(room.fitting(4), 4U) << "nobody knows";
}

/// Four peers with a million floats in x and in g, and the buffers to send and average.
TEST_F(TrialMemory, IsMeasuredWhereATrialWouldRun) {
  constexpr double vector = 4 * 1e6 * sizeof(float);  // for all four peers
  const auto bytes = [&](const std::string& dimension) {
    const SweepPlan sweep = plan("vary: { data.dimension: [" + dimension + "] }\nseeds: 1\n");
    return memory_room(sweep, grapevine_program()).trial_bytes;
  };
  const double small = bytes("16");
  const double large = bytes("1000000");
  EXPECT_GT(small, 1e5);
  EXPECT_GE(large - small, 2 * vector);
  EXPECT_LE(large - small, 16 * vector);
  EXPECT_GE(bytes("16, 1000000"), 0.8 * large) << "the largest counts";
}

/// The trials themselves will report the error, and the memory does not limit other trials.
TEST_F(TrialMemory, ThatCannotBeMeasuredLimitsNothing) {
  write("broken", "#!/bin/sh\nread job\necho 'no such data' >&2\nexit 1\n");
  std::filesystem::permissions(path("broken"), std::filesystem::perms::owner_all);
  const MemoryRoom room = memory_room(plan("seeds: 1\n"), path("broken"));
  EXPECT_EQ(room.unmeasured, "exit 1: no such data");
  EXPECT_EQ(room.fitting(3), 3U);
  EXPECT_EQ(room.words(), "what one trial takes could not be measured");
}

}  // namespace
}  // namespace gv

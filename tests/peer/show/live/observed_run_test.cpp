#include "peer/show/live/observed_run.h"

#include <map>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/peer/show/live/views.h"

namespace gv {
namespace {

using Clock = ObservedRun::Clock;

FleetState state_at(double seconds, std::vector<Round> rounds) {
  FleetState state{.phase = FleetState::Phase::training, .seconds = seconds, .rounds = 1000};
  state.round = *std::ranges::min_element(rounds);
  for (PeerId i = 0; i < rounds.size(); ++i)
    state.peers.push_back({.id = i,
                           .pid = static_cast<pid_t>(100 + i),
                           .stage = PeerState::Stage::training,
                           .round = rounds[i],
                           .heard = seconds});
  return state;
}

TEST(ObservedRun, PaceIsThatOfTheLastSeconds) {
  Feed feed;
  ObservedRun run({.name = "x"}, feed, [](pid_t) { return std::nullopt; });
  const Clock::time_point start{};
  EXPECT_EQ(run.view(start)->peers.size(), 0U) << "before the first state";
  feed.put(state_at(10, {100}));
  EXPECT_DOUBLE_EQ(run.view(start)->rate, 10);
  feed.put(state_at(12, {160}));
  const auto view = run.view(start);
  EXPECT_DOUBLE_EQ(view->rate, 30);
  EXPECT_EQ(run.view(start), view) << "nothing new";
}

TEST(ObservedRun, LagIsCountedAgainstTheFurthest) {
  Feed feed;
  ObservedRun run({.name = "x"}, feed, [](pid_t) { return std::nullopt; });
  FleetState state = state_at(10, {100, 103, 80});
  state.peers[0].heard = 9.7;  // at 8 rounds a second it has caught up since
  feed.put(state);
  const auto view = run.view({});
  EXPECT_EQ(view->peers[0].lag, 0U);
  EXPECT_EQ(view->peers[1].lag, 0U);
  EXPECT_EQ(view->peers[2].lag, 23U);
}

TEST(ObservedRun, CpuIsAShareOfLateAndOfANewProcessOfItsLife) {
  Feed feed;
  std::map<pid_t, ProcessUsage> processes{
      {100, {.cpu_seconds = 5, .age_seconds = 10, .memory_bytes = 1000}}};
  int looks = 0;
  ObservedRun run({.name = "x"}, feed, [&](pid_t pid) -> std::optional<ProcessUsage> {
    ++looks;
    const auto found = processes.find(pid);
    return found == processes.end() ? std::nullopt : std::optional(found->second);
  });
  Clock::time_point now{};
  feed.put(state_at(1, {1}));
  EXPECT_DOUBLE_EQ(run.view(now)->peers[0].cpu_share.value(), 0.5);
  processes[100] = {.cpu_seconds = 6.5, .age_seconds = 12, .memory_bytes = 2000};
  now += std::chrono::milliseconds(500);
  feed.put(state_at(2, {2}));
  EXPECT_DOUBLE_EQ(run.view(now)->peers[0].cpu_share.value(), 0.5) << "looked a moment ago";
  EXPECT_EQ(looks, 1);
  now += std::chrono::milliseconds(1500);
  feed.put(state_at(3, {3}));
  EXPECT_DOUBLE_EQ(run.view(now)->peers[0].cpu_share.value(), 0.75);
  EXPECT_EQ(run.view(now)->peers[0].memory_bytes, 2000U);
  FleetState next = state_at(4, {3});
  next.peers[0].pid = 200;
  processes[200] = {.cpu_seconds = 0.1, .age_seconds = 1, .memory_bytes = 10};
  now += std::chrono::seconds(2);
  feed.put(next);
  EXPECT_DOUBLE_EQ(run.view(now)->peers[0].cpu_share.value(), 0.1);
}

TEST(ProcessUsage, OfThisProcessAndOfNone) {
  const auto own = usage_of(::getpid());
  ASSERT_TRUE(own);
  EXPECT_GT(own->memory_bytes, 1U << 20);
  EXPECT_GE(own->age_seconds, own->cpu_seconds / 64);
  EXPECT_FALSE(usage_of(-1));
}

TEST(Feed, KeepsABoundedCurveWhoseRoundsAscend) {
  Feed feed;
  for (Round round = 1; round <= 5000; ++round) feed.put(a_record(round, 1));
  const auto curve = feed.curve();
  EXPECT_LE(curve->size(), 1024U);
  EXPECT_GE(curve->size(), 512U);
  EXPECT_EQ(curve->back().round, 5000U);
  for (std::size_t k = 1; k < curve->size(); ++k)
    ASSERT_LT((*curve)[k - 1].round, (*curve)[k].round);
  feed.put(a_record(4000, 1));  // a resumed run does these rounds again
  EXPECT_EQ(feed.curve()->back().round, 4000U);
}

}  // namespace
}  // namespace gv

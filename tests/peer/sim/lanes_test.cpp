#include <coroutine>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/simulation.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

using std::chrono::milliseconds;

/// Jobs that one peer offers at the same instant, and the time at which each ended.
struct Jobs {
  std::vector<std::pair<Lane, double>> offered;  ///< lane, milliseconds of work
  std::vector<Time> ends{};
  std::size_t left = 0;

  /// Offers all jobs, and resumes the coroutine when the last one is done.
  struct Offer {
    Jobs& jobs;
    World& world;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
      jobs.left = jobs.offered.size();
      jobs.ends.resize(jobs.left);
      for (std::size_t i = 0; i < jobs.ends.size(); ++i) {
        const auto [lane, work] = jobs.offered[i];
        world.offload(
            lane, work, [] {}, [this, i, h] { end(i, h); });
      }
    }
    void await_resume() const noexcept {}
    void end(std::size_t i, std::coroutine_handle<> h) {
      jobs.ends[i] = world.now();
      if (--jobs.left == 0) h.resume();
    }
  };
};

Jobs* jobs_of_peer_0 = nullptr;

Task<> offer_all(Peer& me) {
  if (me.plan.id != 0) co_return;
  Jobs::Offer offer{*jobs_of_peer_0, me.world};
  co_await offer;
}

/// Returns the end times of jobs that are all offered at time 0.
std::vector<Time> ends_of(std::vector<std::pair<Lane, double>> offered, bool faults = false) {
  Jobs jobs{.offered = std::move(offered)};
  jobs_of_peer_0 = &jobs;
  Fleet file = quadratic_fleet(2, "complete", "isolated", "");
  file.flops = 1e3;  // a flop takes a millisecond
  Assembly fleet(file);
  AlgorithmRow row = *fleet.algorithm;
  row.run = offer_all;
  fleet.algorithm = &row;
  Observer observer(2, fleet.evaluator(), {});
  SimulationOptions options;
  if (faults) options.faults.emplace().drawn = false;
  simulate(fleet, observer, options);
  return jobs.ends;
}

TEST(Lanes, JobsOfOneLaneTakeAsLongAsTheirSum) {
  const std::vector<std::pair<Lane, double>> jobs(4, {Lane::home, 5});
  EXPECT_EQ(ends_of(jobs), (std::vector<Time>{milliseconds(5), milliseconds(10), milliseconds(15),
                                              milliseconds(20)}));
}

TEST(Lanes, AJobWithoutWorkWaitsForThoseBeforeIt) {
  EXPECT_EQ(ends_of({{Lane::home, 7}, {Lane::home, 0}}),
            (std::vector<Time>{milliseconds(7), milliseconds(7)}));
}

TEST(Lanes, TheTwoLanesOverlap) {
  EXPECT_EQ(
      ends_of({{Lane::home, 5}, {Lane::beside, 8}, {Lane::home, 5}, {Lane::beside, 8}}),
      (std::vector<Time>{milliseconds(5), milliseconds(8), milliseconds(10), milliseconds(16)}));
}

TEST(Lanes, AreSerialUnderFaultsAsWell) {
  EXPECT_EQ(ends_of({{Lane::home, 5}, {Lane::beside, 8}, {Lane::home, 5}}, true),
            (std::vector<Time>{milliseconds(5), milliseconds(8), milliseconds(10)}));
}

}  // namespace
}  // namespace gv

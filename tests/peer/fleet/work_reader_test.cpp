#include <gtest/gtest.h>

#include "tests/peer/fleet/first_problem.h"
#include "tests/peer/fleet/fleet_file.h"

// `train.local_steps: auto`: numbers of steps in proportion to the peers' speeds.

namespace gv {
namespace {

using Steps = std::vector<std::uint32_t>;

const std::string head = "version: 1\ndata: quadratic\nstop: { rounds: 10 }\n";
const std::string speeds = "peers: [{ speed: 8 }, { speed: 4 }, { speed: 2 }, { speed: 1 }]\n";

Fleet of(const std::string& steps, const std::string& peers = speeds) {
  return read(head + peers + "train: { local_steps: " + steps + " }\n");
}

std::string problem(const std::string& steps, const std::string& peers = speeds) {
  return first_problem([&] { of(steps, peers); });
}

TEST(LocalSteps, AutoFollowsTheSpeedsAndGivesTheSlowestOne) {
  const Fleet fleet = of("auto");
  EXPECT_EQ(fleet.own_steps, (Steps{9, 4, 2, 1})) << "of 16: 8.53, 4.27, 2.13 and 1.07";
  EXPECT_EQ(fleet.local_steps, 4U);
  const Fleet more = of("{ kind: auto, mean: 15 }");
  EXPECT_EQ(more.own_steps, (Steps{32, 16, 8, 4}));
  EXPECT_EQ(more.local_steps, 15U);
  EXPECT_EQ(of("auto", "peers: [{ speed: 0.3 }, { count: 2, speed: 0.1 }]\n").own_steps,
            (Steps{4, 1, 1}));
}

/// A peer with half the batch finishes a step in half the time.
TEST(LocalSteps, AutoSeesTheBatches) {
  EXPECT_EQ(of("{ kind: auto, mean: 6 }", "peers: [{ batch: 16 }, { batch: 32 }]\n").own_steps,
            (Steps{8, 4}));
  const Fleet both = read(head + speeds +
                          "train: { batch: { kind: auto, mean: 60 }, local_steps: { kind: auto, "
                          "mean: 3 } }\n");
  EXPECT_EQ(both.own_steps, Steps{}) << "the batches have made them equal";
  EXPECT_EQ(both.local_steps, 3U);
}

TEST(LocalSteps, EqualPeersTakeEqualNumbersAndAreTold) {
  std::vector<std::string> notices;
  const std::string path =
      write_file("equal.yaml", head + "peers: 3\ntrain: { local_steps: auto }\n");
  const Fleet fleet = read_fleet(path, {}, &notices);
  EXPECT_EQ(fleet.local_steps, 1U);
  EXPECT_EQ(fleet.own_steps, Steps{});
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("1 step each; `grapevine bench speeds`"), std::string::npos);
  EXPECT_EQ(fleet.digest, read(head + "peers: 3\n").digest) << "nothing is different";
}

TEST(LocalSteps, AreOfTheFleetsIdentity) {
  EXPECT_NE(of("auto").digest, of("4").digest);
  EXPECT_NE(of("auto").digest, of("auto", "peers: [{ speed: 6 }, {}, {}, {}]\n").digest);
}

TEST(LocalSteps, BadInputIsRefusedWithItsPlace) {
  const auto expect = [](const std::string& said, const std::string& part) {
    EXPECT_NE(said.find(part), std::string::npos) << said << "\nwithout: " << part;
  };
  expect(problem("{ kind: auto, mean: 1 }"),
         ":5:23 with `mean: 1` the slowest peer would take no local step write `local_steps: { "
         "kind: auto, mean: 4 }`");
  expect(problem("atuo"), ":5:23 `atuo`");
  expect(problem("0"), ":5:23");
  expect(problem("{ kind: atuo }"), "`atuo`");
  expect(problem("{ kind: auto, maen: 3 }"), "did you mean `mean`?");
  expect(problem("{ kind: auto, mean: 0 }"), ":5:43");
  expect(problem("[1, 2]"), ":5:23");
  expect(problem("auto", "peers: [{ speed: 1e6 }, { speed: 1e-6 }]\n"),
         ":5:23 the peers would take more than 1000000 steps on average for each step of the "
         "slowest peer");
  expect(problem("{ kind: auto, mean: 1000000 }", "peers: [{ speed: 1000 }, { count: 999 }]\n"),
         ":5:23 the fastest peer would get 5e+08 local steps, and the maximum is 1e+08");
  expect(first_problem([] {
           read(head + "peers: [{ speed: 1000 }, { count: 999 }]\n" +
                "train: { batch: { kind: auto, mean: 1000000 } }\n");
         }),
         "the fastest peer would get 5e+08 samples in a batch");
  expect(first_problem(
             [] { read(head + speeds + "train: { local_steps: auto }\nalgorithm: all-reduce\n"); }),
         "local_steps must be 1");
}

}  // namespace
}  // namespace gv

#include <set>

#include <gtest/gtest.h>

#include "peer/runtime/views.h"
#include "tests/peer/fleet/first_problem.h"
#include "tests/peer/sim/chains/chain_fleets.h"

namespace gv {
namespace {

std::string problem_of(const std::string& parallel,
                       const std::string& more = "",
                       PeerId peers = 4) {
  ChainFleet fleet;
  fleet.chains = peers;
  fleet.stages = 0;
  fleet.more = "parallel: " + parallel + "\n" + more;
  return first_problem([&] { const Assembly assembly = fleet.assembly(); });
}

void expect_problem(const std::string& found, const std::string& words) {
  EXPECT_NE(found.find(words), std::string::npos) << found;
}

/// Chains take no batches by speed, so the advice must not contain a key that the file refuses.
TEST(ParallelFile, RemediesAreThoseOfChains) {
  const Remedies remedies = remedies_of(ChainFleet{}.assembly());
  EXPECT_FALSE(remedies.unequal_work);
  EXPECT_TRUE(remedies.other_stages);
  ChainFleet whole;
  whole.stages = 0;
  EXPECT_TRUE(remedies_of(whole.assembly()).unequal_work);
  EXPECT_FALSE(remedies_of(whole.assembly()).other_stages);
}

/// "try local_steps or a codec" was once advised even if a message takes only latency.
TEST(ParallelFile, RemediesAreThoseThatHelp) {
  const auto remedies = [](const std::string& network, int dimension) {
    return remedies_of(Assembly(read_fleet_text(
        "version: 1\npeers: 4\ndata: { kind: quadratic, dimension: " + std::to_string(dimension) +
        " }\nmodel: quadratic\ntopology: ring\nstop: { rounds: 9 }\n" + network)));
  };
  EXPECT_FALSE(remedies("network: { latency: 5 ms }\n", 1'000'000).codec);
  EXPECT_FALSE(remedies("network: { latency: 5 ms, bandwidth: 1 Gbit }\n", 10'000).codec);
  EXPECT_TRUE(remedies("network: { latency: 5 ms, bandwidth: 1 Gbit }\n", 1'000'000).codec);
  EXPECT_TRUE(remedies("network: { latency: 5 ms }\n"
                       "links: [{ between: [0, 1], bandwidth: 10 Mbit }]\n",
                       100'000)
                  .codec);
  EXPECT_FALSE(remedies("", 100).codec) << "a packet is not shorter on any network";
  EXPECT_TRUE(remedies("", 1'000'000).codec);
  EXPECT_TRUE(remedies("network: { latency: 5 ms }\n", 100).local_steps);
}

TEST(ParallelFile, SaysWhatCannotBeDivided) {
  expect_problem(problem_of("{ microbatches: 2 }"), "missing key `stages`");
  expect_problem(problem_of("{ stages: 3 }"), "4 peers cannot be divided into chains of 3");
  expect_problem(problem_of("{ stages: 3 }"), "take `peers: 6`, or 2 stages");
  expect_problem(problem_of("{ stages: 2, microbatches: 3 }"),
                 "a batch of 8 cannot be divided into 3 equal microbatches");
  expect_problem(problem_of("{ stages: 2, microbatches: 3 }"), "`microbatches: 2`");
  expect_problem(problem_of("{ stages: 6 }", "", 6), "6");
  expect_problem(problem_of("{ stages: [fc1, fc9] }"), "fc9");
  expect_problem(problem_of("{ stages: [fc1, fc3, fc3, fc4] }"), "two stages begin with `fc3`");
  expect_problem(problem_of("{ stages: [fc1, fc4, fc3, fc5] }"), "fc");
  expect_problem(problem_of("{ stages: [] }"), "one stage at least");
  expect_problem(problem_of("{ stages: 2, ahead: 0 }"), "out of range: 1 to");
  expect_problem(problem_of("{ stages: 2, place: [0, 1, 2, 2] }"), "each of the peers 0 to 3 once");
  expect_problem(problem_of("{ stages: 2, place: [0, 1] }"), "each of the peers 0 to 3 once");
  expect_problem(problem_of("{ stages: 2, steges: 2 }"), "unknown key `steges`");
  EXPECT_EQ(problem_of("{ stages: 2, microbatches: 4, ahead: all, recompute: true }"), "");
}

TEST(ParallelFile, SaysWhatDoesNotGoWithItsSchedule) {
  const auto of = [](const std::string& keys) { return problem_of("{ stages: 2, " + keys + " }"); };
  EXPECT_EQ(of("schedule: flush, vertical_sync: false"), "");
  EXPECT_EQ(of("schedule: pipedream"), "");
  EXPECT_EQ(of("schedule: pipedream, microbatches: 1, vertical_sync: true, recompute: true"), "");
  expect_problem(of("schedule: pipedrem"), "did you mean `pipedream`?");
  expect_problem(of("schedule: pipedream, microbatches: 2"), "whole minibatches follow each other");
  expect_problem(of("schedule: pipedream, ahead: 1"), "`ahead` counts microbatches");
  expect_problem(of("vertical_sync: true"), "under `schedule: flush` a stage has only one");
  ChainFleet steps;
  steps.chains = 4;
  steps.stages = 0;
  steps.local_steps = 2;
  for (const bool flushes : {true, false}) {
    steps.more =
        fmt::format("parallel: {{ stages: 2, schedule: {} }}\n", flushes ? "flush" : "pipedream");
    const std::string found = first_problem([&] { const Assembly assembly = steps.assembly(); });
    EXPECT_EQ(found.find("a round is one minibatch") == std::string::npos, flushes) << found;
    EXPECT_EQ(found.empty(), flushes) << found;
  }
}

TEST(ParallelFile, SaysWhichCopiesItCannotHave) {
  const auto of = [](const std::string& keys, const std::string& method = "all-reduce") {
    ChainFleet fleet;
    fleet.chains = 4;
    fleet.stages = 0;
    fleet.method = method;
    fleet.more = "parallel: { stages: 2, " + keys + " }\n";
    return first_problem([&] { const Assembly assembly = fleet.assembly(); });
  };
  EXPECT_EQ(of("microbatches: 4, copies: [3, 1]"), "");
  EXPECT_EQ(of("microbatches: 2, copies: [2, 2], recompute: true, ahead: all"), "");
  expect_problem(of("microbatches: 4, copies: [4]"),
                 "`copies` has numbers for 1 stage, and there are 2");
  expect_problem(of("microbatches: 4, copies: 3"),
                 "`copies` has numbers for 0 stages, and there are 2");
  expect_problem(of("microbatches: 4, copies: [2, 1, 1]"), "and there are 2");
  expect_problem(of("microbatches: 4, copies: [3, 2]"),
                 "with `copies` one chain has 5 peers, and the fleet has 4");
  expect_problem(of("microbatches: 4, copies: [3, 2]"), "take `peers: 5`");
  expect_problem(of("microbatches: 4, copies: [1, 1]"), "with `copies` one chain has 2 peers");
  expect_problem(of("microbatches: 4, copies: [4, 0]"), "out of range: 1 to");
  expect_problem(of("microbatches: 4, copies: [1000000, 1000000]"), "1000000 copies of a stage");
  expect_problem(of("microbatches: 2, copies: [3, 1]"),
                 "3 copies of a stage share 2 microbatches, so that some would have nothing to do");
  expect_problem(of("schedule: pipedream, copies: [3, 1]"), "`schedule: pipedream` it has none");
  for (const char* method : {"d-psgd", "local-sgd", "gradient-tracking", "isolated"})
    expect_problem(of("microbatches: 4, copies: [3, 1]", method), "write `algorithm: all-reduce`");
  const std::string doubling = "{ kind: all-reduce, order: doubling }";
  EXPECT_EQ(of("microbatches: 4, copies: [2, 2]", doubling), "");
  expect_problem(of("microbatches: 4, copies: [3, 1]", doubling), "take `order: ring`");
  ChainFleet fleet;
  fleet.method = "all-reduce";
  fleet.chains = 1;
  fleet.copies = {2, 1};
  const std::string digest = fleet.assembly().fleet.digest;
  fleet.copies = {1, 2};
  EXPECT_NE(fleet.assembly().fleet.digest, digest);
}

TEST(ParallelFile, SaysWhichLayersMembersCannotDivide) {
  const auto of = [](const std::string& keys, const std::string& hidden) {
    ChainFleet fleet;
    fleet.chains = 4;
    fleet.stages = 0;
    fleet.hidden = hidden;
    fleet.more = "parallel: { " + keys + " }\n";
    return first_problem([&] { const Assembly assembly = fleet.assembly(); });
  };
  EXPECT_EQ(of("stages: 2, tensor: 2", "[8, 6]"), "");
  EXPECT_EQ(of("stages: 1, tensor: 4, microbatches: 2", "[8, 4]"), "");
  EXPECT_EQ(of("stages: 1, tensor: 1", "[7, 5]"), "");
  expect_problem(of("stages: 1, tensor: 4", "[8, 6]"),
                 "layer `fc2` has 6 rows, which 4 members cannot divide evenly");
  expect_problem(of("stages: [fc1, fc3], tensor: 2", "[8, 4]"),
                 "the stage that begins with `fc3` has no linear layer that members can divide");
  expect_problem(of("stages: 2, tensor: 4", "[8, 4]"),
                 "4 peers cannot be divided into chains of 2 stages with 4 members each");
  expect_problem(of("stages: 2, tensor: 4", "[8, 4]"), "take `peers: 8`, or fewer members");
  expect_problem(of("stages: 1, tensor: 0", "[8, 4]"), "out of range: 1 to");
  expect_problem(of("stages: 2, tensor: 2, schedule: pipedream", "[8, 4]"),
                 "the schedule is `pipedream`");
  ChainFleet copied;
  copied.chains = 4;
  copied.stages = 0;
  copied.method = "all-reduce";
  copied.more = "parallel: { stages: 2, microbatches: 4, copies: [3, 1], tensor: 2 }\n";
  expect_problem(first_problem([&] { const Assembly assembly = copied.assembly(); }),
                 "these have copies");
  ChainFleet whole;
  whole.chains = 1;
  whole.hidden = "[8, 6]";
  std::set<std::string> digests;
  for (const PeerId tensor : {1U, 2U}) {
    whole.tensor = tensor;
    digests.insert(whole.assembly().fleet.digest);
  }
  EXPECT_EQ(digests.size(), 2U);
}

TEST(ParallelFile, SaysWhatCannotStandBesideIt) {
  const std::string two = "{ stages: 2 }";
  expect_problem(problem_of(two, "robust: { clip: auto }\n"), "leave it out");
  expect_problem(problem_of(two, "attackers: { count: 1 }\n"), "attackers");
  expect_problem(problem_of(two, "launch: { restart: on-failure }\n"), "run --resume");
}

struct Beside {
  const char* from;
  const char* to;
  const char* words;
};

TEST(ParallelFile, SaysWhichMethodsAndWorkCannotBeDivided) {
  const Beside cases[] = {
      {"algorithm: { kind: d-psgd }", "algorithm: ad-psgd", "ad-psgd"},
      {"algorithm: { kind: d-psgd }", "algorithm: clipped-gossip", "take `d-psgd`"},
      {"algorithm: { kind: d-psgd }", "algorithm: parameter-server", "parameter-server"},
      {"algorithm: { kind: d-psgd }", "algorithm: { kind: all-reduce, order: hierarchical }",
       "hierarchical"},
      {"every: 2 rounds", "every: 1 s", "in rounds or epochs"},
      {"batch: 8", "batch: auto", "write a number"},
      {"local_steps: 1", "local_steps: auto", "write a number"},
      {"peers: 4", "peers: [{ batch: 4 }, { count: 3 }]", "one chain"},
      {"peers: 4", "peers: [{ count: 4, device: cuda }]", "computes only on the CPU"},
      {"data: { kind: blobs, features: 5, classes: 3, train: 200, test: 40 }\nmodel: { kind: mlp, "
       "hidden: [7, 6, 9, 4] }",
       "data: { kind: sparse, features: 30, nonzeros: 5, train: 200, test: 40 }\nmodel: logistic",
       "no layers"}};
  for (const Beside& one : cases) {
    ChainFleet fleet;
    std::string text = fleet.text();
    const std::size_t at = text.find(one.from);
    ASSERT_NE(at, std::string::npos) << one.from;
    text.replace(at, std::string(one.from).size(), one.to);
    const std::string found =
        first_problem([&] { const Assembly assembly(read_fleet_text(text)); });
    EXPECT_NE(found.find(one.words), std::string::npos) << one.to << ": " << found;
  }
}

TEST(ParallelFile, IsPartOfWhatARunIs) {
  ChainFleet fleet;
  const std::string digest = fleet.assembly().fleet.digest;
  fleet.microbatches = 4;
  EXPECT_NE(fleet.assembly().fleet.digest, digest);
}

/// A file that names the default schedule is the same fleet as a file that does not.
TEST(ParallelFile, IsTheSameRunWithTheUsualScheduleInItOrNot) {
  ChainFleet fleet;
  fleet.chains = 4;
  fleet.stages = 0;
  std::set<std::string> digests;
  for (const char* schedule :
       {"", ", schedule: flush", ", schedule: flush, vertical_sync: false", ", schedule: pipedream",
        ", schedule: pipedream, vertical_sync: true"}) {
    fleet.more = fmt::format("parallel: {{ stages: 2{} }}\n", schedule);
    digests.insert(fleet.assembly().fleet.digest);
  }
  EXPECT_EQ(digests.size(), 3U);
}

}  // namespace
}  // namespace gv

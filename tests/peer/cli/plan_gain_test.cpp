#include <gtest/gtest.h>

#include "tests/peer/launch/program.h"
#include "tests/places.h"

// The `gain` of `plan`, compared with simulations of the fleet and of its fastest peer alone.

namespace gv {
namespace {

using Sets = std::vector<std::string>;

const std::string unequal = source_folder() + "/experiments/unequal/fleet.yaml";
const Sets fast_network = {"links=[]", "network.latency=1 us", "network.bandwidth=1000 Gbit"};

std::vector<std::string> with(std::vector<std::string> words, const Sets& sets) {
  for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
  return words;
}

Sets operator+(Sets sets, const Sets& more) {
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

nlohmann::json gain(const Sets& sets) {
  const Ended plan = run(with({"plan", unequal, "--json"}, sets));
  EXPECT_EQ(plan.code, 0) << plan.err;
  return plan.summary().at("gain");
}

/// Returns virtual seconds of a round, after the first rounds.
double simulated(const Sets& sets) {
  const auto seconds = [&](int rounds) {
    const std::string count = std::to_string(rounds);
    const Sets all = sets + Sets{"stop.rounds=" + count, "evaluate.every=" + count + " rounds"};
    const Ended ended = run(with({"simulate", unequal, "--no-save", "--json"}, all));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.summary().at("seconds").get<double>();
  };
  return (seconds(25) - seconds(5)) / 20;
}

/// Returns the fleet's samples a second relative to anna alone, a peer of speed 8; batches of 32.
double simulated_gain(const Sets& sets) {
  const Sets alone = {"peers=[{ speed: 8 }]", "hosts={}", "links=[]", "algorithm=isolated"};
  return 4 * simulated(sets + alone) / simulated(sets);
}

TEST(PlanGain, IsThatOfSimulations) {
  for (const Sets& sets :
       {Sets{}, fast_network, Sets{"algorithm=all-reduce", "links=[]"}, Sets{"train.local_steps=4"},
        Sets{"algorithm=parameter-server", "links=[]"}}) {
    const double wanted = simulated_gain(sets);
    EXPECT_NEAR(gain(sets).at("times").get<double>(), wanted, 0.05 * wanted)
        << testing::PrintToString(sets);
  }
}

TEST(PlanGain, NamesWhatLimitsTheFleetAndWhatWouldChangeThat) {
  const auto limit = [](const nlohmann::json& of) { return of.at("limit").get<std::string>(); };
  const Sets slow = {"network.bandwidth=1 Mbit", "links=[]"};
  const auto network = gain(slow);
  EXPECT_EQ(limit(network), "network");
  EXPECT_EQ(network.at("fastest"), 0);
  ASSERT_EQ(network.at("changes").size(), 2U) << network;
  for (const auto& change : network.at("changes")) {
    const Sets changed = slow + Sets{change.at("set").get<std::string>()};
    EXPECT_EQ(gain(changed).at("times"), change.at("times")) << network;
    EXPECT_GT(change.at("times"), 1.1 * network.at("times").get<double>());
  }
  EXPECT_GT(network.at("changes")[0].at("times"), network.at("changes")[1].at("times"));

  const auto slowest = gain(fast_network);
  EXPECT_EQ(limit(slowest), "slowest");
  ASSERT_EQ(slowest.at("changes").size(), 1U) << slowest;
  EXPECT_EQ(slowest.at("changes")[0].at("set"), "train.batch=auto");

  const auto of_64 = gain(fast_network + Sets{"train.batch=64"});
  EXPECT_EQ(of_64.at("changes")[0].at("set"), "train.batch={ kind: auto, mean: 64 }")
      << "`auto` alone has a mean of 32";

  const auto arithmetic = gain(fast_network + Sets{"train.batch=auto"});
  EXPECT_EQ(limit(arithmetic), "arithmetic");
  EXPECT_TRUE(arithmetic.at("changes").empty());
}

TEST(PlanGain, IsOneSentenceOnTheScreen) {
  const std::string text = run({"plan", unequal, "--set", "network.bandwidth=1 Mbit"}).output();
  EXPECT_NE(text.find("\ngain   "), std::string::npos) << text;
  EXPECT_NE(text.find("times slower than peer 0 alone, the fastest"), std::string::npos) << text;
}

/// A single model has no other to compare with, and a divided one has `plan --parallel`.
TEST(PlanGain, IsNothingOfOneModel) {
  EXPECT_TRUE(
      gain({"peers=[{ speed: 8 }]", "hosts={}", "links=[]", "algorithm=isolated"}).is_null());
}

}  // namespace
}  // namespace gv

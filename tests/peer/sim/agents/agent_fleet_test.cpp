#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/fleet/digest.h"
#include "peer/fleet/read/algorithm_reader.h"
#include "peer/runtime/assembly/assembly.h"
#include "tests/peer/fleet/first_problem.h"
#include "tests/peer/fleet/fleet_file.h"

// `data: { kind: environment }` and `agent:` of a fleet file.

namespace gv {
namespace {

const std::string begin = "version: 1\npeers: 4\nstop: { rounds: 10 }\n";
const std::string cartpole = "data: { kind: environment, name: cartpole }\n";

TEST(AgentFleet, IsReadWithWhatIsUsual) {
  const Fleet fleet = read(begin + cartpole + "agent: {}\n");
  ASSERT_TRUE(fleet.agent);
  EXPECT_EQ(fleet.agent->environment, "cartpole");
  EXPECT_EQ(fleet.agent->steps, 4U);
  EXPECT_EQ(fleet.agent->n_step, 10U);
  EXPECT_EQ(fleet.model.kind, "mlp");
  EXPECT_FALSE(read(begin + "data: quadratic\n").agent);
}

TEST(AgentFleet, TakesEveryKey) {
  const Fleet fleet = read(
      begin + cartpole +
      "agent: { steps: 2, environments: 3, discount: 0.9, n_step: 5, memory: 900, warm_up: 100, "
      "refresh: 7, priority: 0.6, correction: 0.5, explore: { base: 0.4, power: 6 }, "
      "step_time: 2 ms }\n");
  const AgentSpec& a = *fleet.agent;
  EXPECT_EQ(a.frames(), 6U);
  EXPECT_EQ(a.discount, 0.9);
  EXPECT_EQ(a.memory, 900U);
  EXPECT_EQ(a.warm_up, 100U);
  EXPECT_EQ(a.refresh, 7U);
  EXPECT_EQ(a.priority, 0.6);
  EXPECT_EQ(a.correction, 0.5);
  EXPECT_TRUE(a.explore.each_its_own());
  EXPECT_EQ(a.explore.power, 6);
  EXPECT_DOUBLE_EQ(a.step_seconds, 0.002);
}

/// Every key affects the bits, except the time of a step.
TEST(AgentFleet, EveryKeyButTheStepsTimeIsInTheDigest) {
  const auto digest = [](const std::string& agent) {
    return read(begin + cartpole + "agent: { " + agent + " }\n").digest;
  };
  const std::string usual = digest("");
  for (const char* key :
       {"steps: 2", "environments: 2", "discount: 0.9", "n_step: 3", "memory: 3000", "warm_up: 500",
        "refresh: 10", "priority: 0.6", "correction: 0.5", "explore: { from: 0.5 }",
        "explore: { to: 0.01 }", "explore: { over: 100 }", "explore: { base: 0.4 }",
        "explore: { base: 0.4, power: 3 }"})
    EXPECT_NE(digest(key), usual) << key;
  EXPECT_NE(digest("explore: { base: 0.4 }"), digest("explore: { base: 0.4, power: 3 }"));
  EXPECT_EQ(digest("step_time: 1 ms"), usual);
  EXPECT_NE(read(begin + "data: { kind: environment, name: acrobot }\nagent: {}\n").digest, usual);
}

TEST(AgentFleet, MayHaveActors) {
  const Fleet plain = read(begin + cartpole + "agent: {}\n");
  EXPECT_EQ(plain.size(), 4U);
  const auto with = [](const std::string& agent) {
    return read(begin + cartpole + "agent: { actors: 6" + agent + " }\n");
  };
  const Fleet usual = with("");
  EXPECT_EQ(usual.trainers(), 4U);
  EXPECT_EQ(usual.data_servers, 1U);
  EXPECT_EQ(usual.actors, 6U);
  EXPECT_EQ(usual.size(), 11U);
  EXPECT_EQ(usual.agent->samples_per_insert, 16);
  EXPECT_EQ(usual.agent->model_every, 100U);
  EXPECT_NE(usual.digest, plain.digest);
  EXPECT_EQ(with(", memories: 3").data_servers, 3U);
  for (const char* key : {", memories: 2", ", samples_per_insert: 8", ", model_every: 7"})
    EXPECT_NE(with(key).digest, usual.digest) << key;
  EXPECT_EQ(read(begin + cartpole + "agent: { actors: 0 }\n").digest, plain.digest);
}

TEST(AgentFleet, AReturnIsATarget) {
  const Fleet fleet = read("version: 1\npeers: 4\nagent: {}\n" + cartpole +
                           "stop: { rounds: 10, target: { return: 475, of: local, for: 2 } }\n");
  const TargetSpec& target = *fleet.stop.target;
  EXPECT_EQ(to_string(target), "mean return of local models 475 twice in a row");
  EXPECT_TRUE(target.holds(-475));
  EXPECT_TRUE(target.holds(-480.5));
  EXPECT_FALSE(target.holds(-474.9));
}

struct Wrong {
  std::string text;
  std::string what;
};

TEST(AgentFleet, RefusesWhatHasNoMeaningWithItsReason) {
  const std::string acts = begin + cartpole + "agent: {}\n";
  const std::vector<Wrong> all{
      {begin + "data: { kind: environment, name: cartpol }\nagent: {}\n", "cartpole"},
      {begin + "data: environment\nagent: {}\n", "needs `name`"},
      {begin + cartpole, "needs `agent`"},
      {begin + "data: digits\nagent: {}\n", "an agent acts in an environment, and `data`"},
      {acts + "model: transformer\n", "model `transformer` does not fit data `environment`"},
      {acts + "model: linear\n", "does not fit"},
      {acts + "model: lenet5\n", "does not fit"},
      {"version: 1\npeers: 4\nagent: {}\n" + cartpole +
           "stop: { rounds: 9, target: { accuracy: 0.9 } }\n",
       "an agent has no accuracy, but a return"},
      {"version: 1\npeers: 4\ndata: quadratic\nstop: { rounds: 9, target: { return: 9 } }\n",
       "only an agent has a return"},
      {begin + "agent: {}\ndata: { kind: environment, name: cartpole, partition: iid }\n",
       "an agent fills its own memory: there are no samples to divide"},
      {begin + "agent: {}\ndata: { kind: environment, name: cartpole, servers: 1 }\n",
       "there are no samples to serve"},
      {begin + "agent: {}\ndata: { kind: environment, name: cartpole, validation: 10 % }\n",
       "evaluated in its environment"},
      {begin + cartpole + "agent: { memory: 20, warm_up: 20 }\n",
       "a batch of 32 is larger than the memory of 20"},
      {begin + cartpole + "agent: { memory: 500 }\n", "a memory of 500 never holds 1000"},
      {begin + cartpole + "agent: { warm_up: 31 }\n",
       "a batch of 32 is larger than the 31 transitions"},
      {begin + cartpole + "agent: { n_step: 0 }\n", "out of range"},
      {begin + cartpole + "agent: { discount: 1.01 }\n", "out of range"},
      {begin + cartpole + "agent: { discount: -0.01 }\n", "out of range"},
      {begin + "agent: {}\ndata: { kind: digits, name: cartpole }\n", "unknown key `name`"},
      {acts.substr(0, acts.find("peers")) + "peers: [{ device: cuda }, {}]\n" +
           acts.substr(acts.find("stop")),
       "acts and learns only on the CPU"},
      {begin + cartpole + "agent: { explore: { from: 1, base: 0.4 } }\n", "`explore` has either"},
      {begin + cartpole + "agent: { explore: { power: 4 } }\n", "`power` needs `base`"},
      {begin + cartpole + "agent: { stepps: 4 }\n", "unknown key `stepps`"},
      {begin + cartpole + "agent: { memories: 2 }\n", "`memories` needs actors, and the agent has"},
      {begin + cartpole + "agent: { samples_per_insert: 2 }\n",
       "`samples_per_insert` needs actors, and the agent has none"},
      {begin + cartpole + "agent: { actors: 0, model_every: 2 }\n",
       "`model_every` needs actors, and the agent has none"},
      {begin + cartpole + "agent: { actors: 8, memories: 5 }\n",
       "5 memories are more than the 4 peers that learn"},
      {begin + cartpole + "agent: { actors: 2, memories: 3 }\n",
       "3 memories are more than the 2 peers that act"},
      {begin + cartpole + "agent: { actors: 2, samples_per_insert: -1 }\n", "out of range"},
      {begin + cartpole + "agent: { actors: 2, environments: 1000, memory: 10000 }\n",
       "an actor sends up to 14000 transitions at once, and a memory keeps 10000"},
      {acts + "algorithm: fedavg\n",
       "fedavg trains no agents, which fill a memory of their own: it counts"},
      {acts + "algorithm: { kind: flexrr }\n",
       "flexrr trains no agents, which fill a memory of their own: it hands"},
      {acts + "algorithm: hogwild\n",
       "hogwild trains no agents, which fill a memory of their own: its threads"},
      {acts + "train: { device: cuda }\n", "acts and learns only on the CPU"},
      {acts + "train: { peer_weights: samples }\n", "no samples to be weighed by"},
      {acts + "train: { class_weights: balanced }\n", "have no labels"},
      {acts + "evaluate: { every: 1 epoch }\n", "no epochs"},
      {"version: 1\npeers: 4\nagent: {}\nstop: { epochs: 2 }\n" + cartpole, "no epochs"},
      {acts + "parallel: { stages: 2 }\n", "chains divide it"}};
  for (const Wrong& wrong : all) {
    const std::string problem = first_problem([&] { read(wrong.text); });
    EXPECT_NE(problem.find(wrong.what), std::string::npos) << wrong.text << problem;
  }
}

std::string named(const AlgorithmRow& row) {
  return row.order.empty() ? std::string(row.kind) : fmt::format("{} {}", row.kind, row.order);
}

TEST(AgentMethods, HaveTheNamesOfTheirPapers) {
  std::map<std::string, std::set<std::string>> under;
  for (const AlgorithmRow* row : algorithms())
    under[std::string(agent_use(*row).name)].insert(named(*row));
  EXPECT_EQ(under.at("Gorila"), (std::set<std::string>{"downpour", "parameter-server async"}));
  for (const char* gossip : {"d-psgd lian", "d-psgd atc", "sgp", "ad-psgd", "choco-sgd"})
    EXPECT_TRUE(under.at("GALA").contains(gossip)) << gossip;
  for (const char* other : {"all-reduce ring", "parameter-server sync", "easgd async", "isolated"})
    EXPECT_TRUE(under.at("").contains(other)) << other;
  EXPECT_EQ(under.size(), 3U);
}

TEST(AgentMethods, AreRefusedInAFileWhereTheyTrainNone) {
  std::set<std::string> refused;
  for (const AlgorithmRow* row : algorithms()) {
    const std::string order = row->order.empty() ? "" : fmt::format(", order: {}", row->order);
    const std::string problem = first_problem([&] {
      read(fmt::format("{}{}agent: {{}}\nalgorithm: {{ kind: {}{} }}\n", begin, cartpole, row->kind,
                       order));
    });
    const std::string why(agent_use(*row).objection);
    EXPECT_EQ(problem.find("trains no agents") != std::string::npos, !why.empty()) << problem;
    if (why.empty()) continue;
    EXPECT_NE(problem.find(why), std::string::npos) << problem;
    refused.insert(named(*row));
  }
  EXPECT_EQ(refused, (std::set<std::string>{"fedavg", "flexrr", "hogwild"}));
}

TEST(AgentFleet, RefusesModelsThatItsPicturesAreTooSmallFor) {
  const std::string text = begin + "data: { kind: environment, name: bricks }\nagent: {}\nmodel: ";
  const auto problem = [&](const std::string& model) {
    return first_problem([&] { const Assembly made(read(text + model + "\n")); });
  };
  EXPECT_EQ(problem("mlp"), "");
  EXPECT_EQ(problem("{ kind: resnet20, norm: group }"), "");
  EXPECT_NE(problem("lenet5").find("12"), std::string::npos) << problem("lenet5");
  EXPECT_NE(problem("resnet20").find("norm: group"), std::string::npos) << problem("resnet20");
}

/// Agents are evaluated from starts that they do not learn from, which choose the best model.
TEST(AgentFleet, MayKeepItsBestModelAndHavePatience) {
  const Fleet fleet = read("version: 1\npeers: 2\nagent: {}\n" + cartpole +
                           "stop: { patience: 3 }\noutput: { save: best }\n"
                           "evaluate: { every: 5 rounds }\n");
  EXPECT_TRUE(fleet.keep_best);
  EXPECT_EQ(fleet.stop.patience, 3U);
}

}  // namespace
}  // namespace gv

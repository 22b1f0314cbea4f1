#include <gtest/gtest.h>

#include "gossip/steps/steps.h"
#include "peer/sim/simulation.h"
#include "peer/study/predict/forecast/advice.h"
#include "tests/peer/fleet/test_fleet.h"

namespace gv {
namespace {

struct Coded {
  const char* algorithm;
  const char* option;
  Codec codec;
};

const Coded coded[] = {
    {"choco-sgd", "gamma", {.kind = Codec::Kind::top_k, .fraction = 0.01}},
    {"choco-sgd", "gamma", {.kind = Codec::Kind::top_k, .fraction = 0.1}},
    {"choco-sgd", "gamma", {.kind = Codec::Kind::random_k, .fraction = 0.01}},
    {"choco-sgd", "gamma", {.kind = Codec::Kind::random_k, .fraction = 0.1}},
    {"choco-sgd", "gamma", {.kind = Codec::Kind::random_k, .fraction = 0.5}},
    {"choco-sgd", "gamma", {.kind = Codec::Kind::sign}},
    {"deep-squeeze", "eta", {.kind = Codec::Kind::top_k, .fraction = 0.02}},
    {"deep-squeeze", "eta", {.kind = Codec::Kind::random_k, .fraction = 0.1}},
    {"deep-squeeze", "eta", {.kind = Codec::Kind::random_k, .fraction = 0.25}},
    {"beer", "gamma", {.kind = Codec::Kind::top_k, .fraction = 0.01}},
    {"beer", "gamma", {.kind = Codec::Kind::random_k, .fraction = 0.1}},
    {"beer", "gamma", {.kind = Codec::Kind::sign}},
    {"motef", "gamma", {.kind = Codec::Kind::top_k, .fraction = 0.1}},
    {"motef", "gamma", {.kind = Codec::Kind::random_k, .fraction = 0.01}},
    {"choco-sgd", "gamma", {.kind = Codec::Kind::two_bit, .fraction = 0.01}},
    {"choco-sgd", "gamma", {.kind = Codec::Kind::two_bit, .fraction = 0.1}},
    {"deep-squeeze", "eta", {.kind = Codec::Kind::two_bit, .fraction = 0.02}},
    {"beer", "gamma", {.kind = Codec::Kind::two_bit, .fraction = 0.1}},
};

Fleet fleet_of(const Coded& c, const char* graph, double step) {
  Fleet fleet = quadratic_fleet(9, graph, c.algorithm, "");
  fleet.codec = c.codec;
  if (step > 0) fleet.settings = {{c.option, step}};
  return fleet;
}

/// Returns the distance of the models per coordinate after some hundreds of rounds.
double apart(Fleet fleet) {
  fleet.data.quadratic = {
      .dimension = 300, .hessian = {1, 0.5}, .noise = 1, .spread = 1, .start = 0, .centers = {}};
  fleet.optimizer.lr = 0.05;
  fleet.stop.rounds = 600;
  fleet.evaluate_every = 600;
  const Assembly assembly(std::move(fleet));
  double consensus = 0;
  Observer observer(9, assembly.evaluator(),
                    [&](const FleetRecord& r) { consensus = r.consensus / 300; });
  simulate(assembly, observer, {});
  return consensus;
}

/// Both steps were once 0.3 with every codec, at which some fleets diverged to 1e6.
TEST(ConsensusStep, TheUsualOneHoldsTheModelsTogether) {
  for (const Coded& c : coded) {
    for (const char* graph : {"ring", "star", "complete"}) {
      SCOPED_TRACE(std::string(c.algorithm) + " " + to_string(c.codec) + " " + graph);
      EXPECT_LT(apart(fleet_of(c, graph, 0)), 2);
      EXPECT_EQ(codec_warning(Assembly(fleet_of(c, graph, 0))), "");
    }
  }
  EXPECT_GT(apart(fleet_of(coded[3], "ring", 0.3)), 100);
}

TEST(ConsensusStep, IsWhatTheFileSaysOrGoesByTheCodec) {
  EXPECT_EQ(usual_consensus_step(std::nullopt), 0.3);
  EXPECT_EQ(usual_consensus_step(Codec{.kind = Codec::Kind::int8}), 0.3);
  EXPECT_EQ(usual_consensus_step(Codec{.kind = Codec::Kind::top_k, .fraction = 0.5}), 0.3);
  EXPECT_EQ(Assembly(fleet_of(coded[3], "ring", 0)).traffic().step, 0.1);
  EXPECT_EQ(Assembly(fleet_of(coded[3], "ring", 0.25)).traffic().step, 0.25);
}

TEST(CodecTrial, WarnsOfAStepThatIsTooFar) {
  const std::string text = codec_warning(Assembly(fleet_of(coded[3], "ring", 0.3)));
  EXPECT_NE(text.find("algorithm.gamma 0.3 is too far a step for codec"), std::string::npos)
      << text;
  EXPECT_NE(text.find("which is 0.1"), std::string::npos) << text;
  // A step above the default that still holds.
  EXPECT_EQ(codec_warning(Assembly(fleet_of(coded[1], "ring", 0.3))), "");
  EXPECT_EQ(codec_warning(Assembly(quadratic_fleet(9, "ring", "choco-sgd", ""))), "");
  EXPECT_EQ(codec_warning(Assembly(quadratic_fleet(9, "ring", "d-psgd", "lian"))), "");
}

TEST(CodecTrial, ALossThatIsNotFiniteNamesTheKeysThatThereAre) {
  EXPECT_EQ(loss_not_finite(Assembly(fleet_of(coded[6], "ring", 0))),
            "error: the loss is not finite; lower algorithm.eta, or train.optimizer.lr");
  EXPECT_EQ(loss_not_finite(Assembly(quadratic_fleet(9, "ring", "d-psgd", "lian"))),
            "error: the loss is not finite; lower train.optimizer.lr");
}

}  // namespace
}  // namespace gv

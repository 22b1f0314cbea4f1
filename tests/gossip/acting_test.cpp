#include "optim/rl/acting.h"

#include <cmath>

#include "optim/rl/environments.h"
#include "optim/rl/q_agent.h"
#include "optim/train/predictor.h"
#include "tests/gossip/experience_fleet.h"

// An actor, and a learner for which others act.

namespace gv {
namespace {

class Acting : public Experience {
 protected:
  void make_acting() {
    const EnvironmentRow& row = *find_environment("cartpole");
    const NeuralNetwork network =
        make_network({"mlp", {{"hidden", Widths{4}}}}, row.shape_of_data());
    const AgentSpec spec{.environment = "cartpole", .steps = 2, .n_step = 1};
    const auto own = std::make_shared<ExperiencePart>();
    own->actor = make_actor(spec, row, network, ActorPlace{.actor = 0, .rng = Rng(1)},
                            std::vector<float>(network.size()));
    own->model_every = 8;
    d = own->actor->size();
    make_part(3, own, d);
    life = act(*peer);
    life.start();
    world.work();
  }
  void say_taken(Round round) {
    ASSERT_TRUE(peer->deliver({memory_id, taken_kind, round, 0, nullptr}));
    world.work();
  }

  std::size_t d = 0;
};

TEST_F(Acting, TwoChunksAreUnderWayAndNoMore) {
  make_acting();
  EXPECT_EQ(count(memory_id, experience_kind), 2);
  say_taken(0);
  EXPECT_EQ(count(memory_id, experience_kind), 3);
  say_taken(5);
  EXPECT_EQ(count(memory_id, experience_kind), 4);
  EXPECT_EQ(peer->round, 5U) << "its round is the memory's";
  EXPECT_EQ(part->figures.frames, 8U);
}

/// An actor must not wait for its learner, which may be waiting for transitions.
TEST_F(Acting, NobodyWaitsForAModel) {
  make_acting();
  EXPECT_EQ(count(0, wanted_kind), 1);
  for (int k = 0; k < 10; ++k) say_taken(0);
  EXPECT_EQ(count(memory_id, experience_kind), 12);
  EXPECT_EQ(count(0, wanted_kind), 1) << "it has asked";
  ASSERT_TRUE(peer->deliver({0, model_kind, 0, 0, filled(d, 0.5F)}));
  say_taken(0);
  EXPECT_EQ(count(0, wanted_kind), 2) << "what was asked for has come, and the next is due";
  EXPECT_FALSE(peer->deliver({0, model_kind, 1, 0, filled(d + 1, 0.5F)}));
  EXPECT_FALSE(peer->deliver({0, model_kind, 1, 1, filled(d, 0.5F)}));
}

TEST_F(Acting, EndsWithItsLearner) {
  make_acting();
  peer->deliver({0, Kind::goodbye, 0, 0, nullptr});
  world.work();
  EXPECT_TRUE(life.done());
}

TEST_F(Acting, EndsWithItsMemory) {
  make_acting();
  peer->died(memory_id);
  world.work();
  EXPECT_TRUE(life.done());
}

/// Found by trying: an actor ended with its memory's process, and the successor had no actors.
TEST_F(Acting, GoesOnWithWhoTakesItsMemorysPlace) {
  succession = std::chrono::seconds(3);
  make_acting();
  peer->died(memory_id);
  world.work();
  pass(std::chrono::seconds(1));
  EXPECT_FALSE(life.done());
  EXPECT_EQ(count(memory_id, experience_kind), 2);
  peer->replaced(memory_id);
  pass(std::chrono::milliseconds(10));
  EXPECT_EQ(count(memory_id, experience_kind), 4) << "what the dead one had is nobody's";
  say_taken(0);
  EXPECT_EQ(count(memory_id, experience_kind), 5);
}

TEST_F(Acting, ANewMemoryOwesNothingOfTheOldOne) {
  succession = std::chrono::seconds(3);
  make_acting();
  ASSERT_TRUE(peer->deliver({memory_id, taken_kind, 0, 0, nullptr}));
  ASSERT_FALSE(world.jobs.empty()) << "it acts";
  peer->died(memory_id);
  peer->replaced(memory_id);
  world.work();
  EXPECT_EQ(count(memory_id, experience_kind), 4) << "two are under way to the new one";
}

TEST_F(Acting, WaitsForAMemorysSuccessorOnlySoLong) {
  succession = std::chrono::seconds(3);
  make_acting();
  peer->died(memory_id);
  world.work();
  pass(std::chrono::seconds(2));
  EXPECT_FALSE(life.done());
  pass(std::chrono::seconds(2));
  EXPECT_TRUE(life.done());
  EXPECT_EQ(journal.said, "") << "its learner says it";
}

TEST_F(Acting, AsksWhoTakesItsLearnersPlaceForTheModel) {
  succession = std::chrono::seconds(3);
  make_acting();
  EXPECT_EQ(count(0, wanted_kind), 1);
  peer->died(0);
  world.work();
  EXPECT_FALSE(life.done());
  peer->replaced(0);
  pass(std::chrono::milliseconds(10));
  for (int k = 0; k < 10; ++k) say_taken(0);
  EXPECT_EQ(count(0, wanted_kind), 2);
}

/// Even if dead peers are restarted: a goodbye is no death.
TEST_F(Acting, WaitsForNobodyWhoHasLeft) {
  succession = std::chrono::seconds(3);
  make_acting();
  ASSERT_TRUE(peer->deliver({memory_id, taken_kind, 0, 0, nullptr}));
  ASSERT_FALSE(world.jobs.empty()) << "it acts meanwhile";
  peer->deliver({memory_id, Kind::goodbye, 0, 0, nullptr});
  peer->died(memory_id);
  world.work();
  EXPECT_TRUE(life.done());
  EXPECT_EQ(journal.said, "");
}

class Learning : public Experience {};

TEST_F(Learning, GivesItsModelAtTheEndOfARound) {
  const auto own = std::make_shared<ExperiencePart>();
  own->judged = std::make_shared<FoundErrors>();
  make_part(0, own);
  ASSERT_TRUE(peer->deliver({3, wanted_kind, 7, 0, nullptr}));
  EXPECT_FALSE(peer->deliver({2, wanted_kind, 7, 0, nullptr})) << "a memory wants none";
  Task<> round = peer->end_round();
  round.start();
  world.work();
  ASSERT_TRUE(round.done());
  ASSERT_EQ(count(3, model_kind), 1);
  const Message& model = world.sent.back().second;
  EXPECT_EQ(model.number, 7U);
  EXPECT_EQ(std::vector<float>(model.payload->floats().begin(), model.payload->floats().end()),
            x());
}

/// The request for minibatch k carries the errors of minibatch k - 2.
TEST_F(Learning, SaysHowWrongItWas) {
  const auto own = std::make_shared<ExperiencePart>();
  own->judged = std::make_shared<FoundErrors>();
  make_part(0, own);
  EXPECT_EQ(judgement_for(*peer, 0), nullptr);
  EXPECT_EQ(judgement_for(*peer, 1), nullptr);
  replica->scalar("minibatches", {}) = 3;
  own->judged->errors = {-2, 1, 0, 4};
  EXPECT_EQ(judgement_for(*peer, 3), nullptr);
  const Payload said = judgement_for(*peer, 4);
  ASSERT_TRUE(said);
  EXPECT_EQ(*unpack_errors(*said, 4), (std::vector<float>{2, 1, 0, 4}));
}

}  // namespace
}  // namespace gv

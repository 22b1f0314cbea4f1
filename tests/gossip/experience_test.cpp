#include "gossip/experience.h"

#include <algorithm>
#include <cmath>

#include "gossip/supply.h"
#include "optim/rl/actor.h"
#include "optim/rl/environments.h"
#include "optim/rl/found_errors.h"
#include "optim/rl/served_memory.h"
#include "optim/train/make_objective.h"
#include "tests/gossip/one_peer.h"

// Learners 0 and 1, the memory 2, and the actors 3 and 4, one of them alone in a still world.

namespace gv {
namespace {

constexpr PeerId memory_id = 2;
constexpr TransitionForm form{.numbers = 1, .actions = 2, .binary = false};

class Experience : public OnePeer {
 protected:
  static std::shared_ptr<gv::Setup> fleet_setup() {
    return std::make_shared<gv::Setup>(gv::Setup{.peers = 2,
                                                 .data_servers = 1,
                                                 .actors = 2,
                                                 .most_samples_bytes = 4 * form.bytes(),
                                                 .most_chunk_bytes = 8 * form.bytes(),
                                                 .most_judged_bytes = 4 * sizeof(float)});
  }
  void make_part(PeerId id, std::shared_ptr<ExperiencePart> own, std::size_t d = 3) {
    part = std::move(own);
    Plan plan;
    plan.id = id;
    plan.peers = 5;
    plan.setup = fleet_setup();
    plan.links = experience_links(*plan.setup, id);
    plan.experience = part;
    plan.channels = experience_channels(*plan.setup, d, part);
    plan.rounds = 100;
    plan.is_supplied = id < 2;
    plan.succession = succession;
    make(static_cast<std::uint32_t>(d), plan);
  }
  /// Warm after a chunk of four; then two samples for each transition, and eight to spare.
  void make_memory(double priority = 0) {
    const auto own = std::make_shared<ExperiencePart>();
    own->memory = std::make_shared<ServedMemory>(
        ServedMemorySpec{.memory = {.places = 40, .numbers = 1, .actions = 2, .priority = priority},
                         .form = form,
                         .most_rows = 8,
                         .warm_up = 4,
                         .samples_per_insert = 2,
                         .batches = {{0, 4}, {1, 4}}},
        Rng(1));
    make_part(memory_id, own);
    life = remember(*peer);
    life.start();
    world.work();
  }
  static std::shared_ptr<Buffer> chunk(float reward = 1) {
    Drawn drawn{.places = {},
                .seen = {1, 2, 3, 4},
                .next = {2, 3, 4, 5},
                .actions = {0, 1, 0, 1},
                .rewards = {reward, 1, 1, 1},
                .futures = {1, 1, 1, 0},
                .weights = {1, 1, 1, 1}};
    return pack_transitions(drawn, form);
  }
  bool send_chunk(PeerId from, Payload transitions = chunk()) {
    const bool fits =
        peer->deliver({from, experience_kind, sent_chunks++, 0, std::move(transitions)});
    world.work();
    return fits;
  }
  bool ask(PeerId from, std::uint64_t number, Payload errors = nullptr) {
    const bool fits = peer->deliver({from, Kind::ready, number, 0, std::move(errors)});
    world.work();
    return fits;
  }
  std::ptrdiff_t count(PeerId to, Kind kind) const {
    return std::ranges::count_if(
        world.sent, [&](const auto& sent) { return sent.first == to && sent.second.kind == kind; });
  }
  MemoryFigures figures() const { return part->memory->figures(); }

  void pass(Time length) {
    world.clock += length;
    for (auto timers = std::exchange(world.timers, {}); const auto& [delay, f] : timers) f();
    world.work();
  }

  Time succession{0};
  std::shared_ptr<ExperiencePart> part;
  std::uint64_t sent_chunks = 0;
  Task<> life;
};

TEST_F(Experience, LinksAreThoseOfOnesOwn) {
  const auto setup = fleet_setup();
  EXPECT_EQ(actors(*setup), (std::vector<PeerId>{3, 4}));
  EXPECT_EQ(experience_links(*setup, 0), (std::vector<PeerId>{2, 3}));
  EXPECT_EQ(experience_links(*setup, 1), (std::vector<PeerId>{2, 4}));
  EXPECT_EQ(experience_links(*setup, 2), (std::vector<PeerId>{0, 1, 3, 4}));
  EXPECT_EQ(experience_links(*setup, 4), (std::vector<PeerId>{1, 2}));
  setup->data_servers = 2;
  EXPECT_EQ(experience_links(*setup, 3), (std::vector<PeerId>{1, 5})) << "the actors are 4 and 5";
  EXPECT_EQ(experience_links(*setup, 5), (std::vector<PeerId>{1, 3}));
}

TEST_F(Experience, AMemoryHandsOutNothingBeforeItIsWarm) {
  make_memory();
  EXPECT_TRUE(ask(0, 0));
  EXPECT_TRUE(ask(1, 0));
  EXPECT_EQ(count(0, Kind::samples), 0);
  EXPECT_TRUE(send_chunk(3));
  EXPECT_EQ(count(3, taken_kind), 1);
  EXPECT_EQ(count(0, Kind::samples), 1);
  EXPECT_EQ(count(1, Kind::samples), 1);
}

TEST_F(Experience, AMemoryKeepsBothSidesToTheRatio) {
  make_memory();
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(send_chunk(3));
  EXPECT_EQ(count(3, taken_kind), 3);
  EXPECT_TRUE(send_chunk(3));
  EXPECT_TRUE(send_chunk(4));
  EXPECT_EQ(count(3, taken_kind), 3) << "16 samples more than are learnt would be due";
  EXPECT_EQ(figures().inserted, 12U);
  EXPECT_TRUE(ask(0, 0));
  EXPECT_TRUE(ask(0, 1));
  EXPECT_EQ(count(0, Kind::samples), 2);
  EXPECT_EQ(count(3, taken_kind), 4) << "in the order in which they came";
  EXPECT_EQ(count(4, taken_kind), 0);
  EXPECT_TRUE(ask(0, 2));
  EXPECT_TRUE(ask(0, 3));
  EXPECT_EQ(count(4, taken_kind), 1);
  // And the other way round.
  for (std::uint64_t k = 4; k < 40; ++k)
    if (count(0, Kind::samples) == static_cast<std::ptrdiff_t>(k)) ask(0, k);
  const MemoryFigures seen = figures();
  EXPECT_GT(seen.learnt, 2 * seen.taken + 8);
  EXPECT_LE(seen.learnt, 2 * seen.taken + 8 + 4);
}

/// Its round is that of the slowest learner that it serves.
TEST_F(Experience, AMemoryIsInTheRoundOfItsLearners) {
  make_memory();
  for (int k = 0; k < 3; ++k) send_chunk(3);
  ask(0, 3);
  EXPECT_EQ(peer->round, 0U);
  ask(1, 6);
  EXPECT_EQ(peer->round, 2U);
  send_chunk(4);
  EXPECT_EQ(world.sent.back().second.number, 2U) << "and so it tells its actors";
}

TEST_F(Experience, WhatNobodyHonestSendsIsRefusedAndShutsOut) {
  make_memory(0.6);
  send_chunk(3);
  for (int k = 1; k <= 3; ++k) {
    EXPECT_EQ(part->shuts_out(3), false);
    EXPECT_TRUE(send_chunk(3, chunk(std::nanf("")))) << "its size is right";
    EXPECT_EQ(part->strikes.at(3), static_cast<std::uint32_t>(k));
  }
  EXPECT_EQ(figures().inserted, 4U);
  EXPECT_FALSE(send_chunk(3)) << "the link is closed";
  EXPECT_NE(journal.said.find("peer 3 sent transitions or errors that cannot be"),
            std::string::npos)
      << journal.said;
  EXPECT_NE(journal.said.find("(3 of 3), and nothing is taken of it any more"), std::string::npos);
  EXPECT_TRUE(send_chunk(4)) << "the other one goes on";
  EXPECT_EQ(figures().inserted, 8U);
  EXPECT_EQ(part->figures.actors, 1U);
  // Errors of a learner.
  ask(0, 0), ask(0, 1);
  EXPECT_TRUE(ask(0, 2, filled(4, -1)));
  EXPECT_EQ(part->strikes.at(0), 1U);
  EXPECT_TRUE(ask(1, 0));
  EXPECT_EQ(count(1, Kind::samples), 1);
}

TEST_F(Experience, OtherSizesAndSendersCloseTheLinkAtOnce) {
  make_memory();
  EXPECT_FALSE(send_chunk(3, nullptr));
  EXPECT_FALSE(send_chunk(3, filled(8 * form.bytes() / 4 + 1, 0)));
  EXPECT_FALSE(send_chunk(0)) << "a learner has no chunks";
  EXPECT_FALSE(ask(3, 0)) << "and an actor no questions";
  EXPECT_FALSE(ask(0, 2, filled(5, 1))) << "errors of more than a batch";
  EXPECT_TRUE(send_chunk(3, filled(3, 0))) << "no whole transitions";
  EXPECT_EQ(part->strikes.at(3), 1U);
  EXPECT_EQ(figures().inserted, 0U);
}

TEST_F(Experience, AFloodFillsNothing) {
  make_memory();
  for (int k = 0; k < 3; ++k) send_chunk(3);  // what is allowed before somebody learns
  std::vector<std::weak_ptr<const Buffer>> flood;
  for (int k = 0; k < 100; ++k) {
    Payload one = chunk();
    flood.push_back(one);
    send_chunk(3, std::move(one));
  }
  EXPECT_LE(std::ranges::count_if(flood, [](const auto& one) { return !one.expired(); }), 2);
  EXPECT_TRUE(part->shuts_out(3));
  EXPECT_EQ(figures().inserted, 12U);
}

TEST_F(Experience, WithoutActorsLearningGoesOnAndThatIsSaidOnce) {
  make_memory();
  send_chunk(3);
  for (std::uint64_t k = 0; k < 5; ++k) ask(0, k);
  EXPECT_EQ(count(0, Kind::samples), 3) << "eight samples to spare";
  peer->died(3);
  world.work();
  EXPECT_EQ(count(0, Kind::samples), 3) << "one is left";
  peer->died(4);
  world.work();
  EXPECT_EQ(count(0, Kind::samples), 5);
  for (std::uint64_t k = 5; k < 30; ++k) ask(0, k);
  EXPECT_EQ(count(0, Kind::samples), 30);
  const std::string line = "no actor of this memory sends anything: learning goes on from 4";
  const std::size_t at = journal.said.find(line);
  ASSERT_NE(at, std::string::npos) << journal.said;
  EXPECT_EQ(journal.said.find(line, at + 1), std::string::npos);
  EXPECT_FALSE(life.done());
}

TEST_F(Experience, SilentActorsHoldNobodyUpForLongerThanTheDeadline) {
  make_memory();
  send_chunk(3);
  for (std::uint64_t k = 0; k < 5; ++k) ask(0, k);
  const std::ptrdiff_t limited = count(0, Kind::samples);
  pass(peer->plan.deadline);
  EXPECT_GT(count(0, Kind::samples), limited);
}

TEST_F(Experience, AnEmptyMemoryWithoutActorsEnds) {
  make_memory();
  ask(0, 0);
  peer->died(3);
  EXPECT_FALSE(life.done());
  peer->died(4);
  world.work();
  EXPECT_TRUE(life.done());
}

/// It once ended with the last learner that died, and who took that one's place found no memory.
TEST_F(Experience, AMemoryKeepsWhatItHasForWhoTakesItsLearnersPlace) {
  succession = std::chrono::seconds(3);
  make_memory();
  send_chunk(3);
  peer->deliver({1, Kind::goodbye, 0, 0, nullptr});
  ask(0, 0);
  EXPECT_EQ(count(0, Kind::samples), 1);
  peer->died(0);
  world.work();
  pass(std::chrono::seconds(1));
  EXPECT_FALSE(life.done());
  peer->replaced(0);
  pass(std::chrono::milliseconds(10));
  ask(0, 0);
  EXPECT_EQ(count(0, Kind::samples), 2);
  peer->died(0);
  world.work();
  pass(std::chrono::seconds(2));
  EXPECT_FALSE(life.done());
  pass(std::chrono::seconds(2));
  EXPECT_TRUE(life.done());
  EXPECT_EQ(journal.said, "") << "it could do without";
}

TEST_F(Experience, AMemoryEndsWithItsLearners) {
  make_memory();
  send_chunk(3);
  peer->deliver({0, Kind::goodbye, 0, 0, nullptr});
  world.work();
  EXPECT_FALSE(life.done());
  peer->deliver({1, Kind::goodbye, 0, 0, nullptr});
  world.work();
  EXPECT_TRUE(life.done());
}

class Acting : public Experience {
 protected:
  void make_acting() {
    const EnvironmentRow& row = *find_environment("cartpole");
    const NeuralNetwork network =
        make_network({"mlp", {{"hidden", Widths{4}}}}, row.shape_of_data());
    const AgentSpec spec{.environment = "cartpole", .steps = 2, .n_step = 1};
    const auto own = std::make_shared<ExperiencePart>();
    own->actor = make_actor(spec,
                            row,
                            network,
                            ActorPlace{.actor = 0, .rng = Rng(1)},
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

/// Its learner may be waiting for transitions meanwhile.
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

/// It once ended with the process that had died, and who took its place had no actors.
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

/// Where peers are started again, too: a goodbye is no death.
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

/// The question for minibatch k says how wrong minibatch k - 2 was.
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

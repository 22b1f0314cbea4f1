#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "gossip/servers/servers.h"
#include "gossip/steps/pushes.h"
#include "tests/gossip/one_peer.h"

// Reactions of methods to messages that pass their channels but that no honest peer sends.

namespace gv {
namespace {

class LiedTo : public OnePeer {
 protected:
  /// Returns the default settings of a method, for a fleet of `peers` peers.
  static std::shared_ptr<gv::Setup> setup_of(const AlgorithmRow& row, PeerId peers) {
    auto setup = std::make_shared<gv::Setup>();
    setup->peers = peers;
    for (const Option& option : row.options)
      setup->settings[std::string(option.name)] = option.usual;
    return setup;
  }
  std::size_t answers_to(PeerId worker) const {
    return static_cast<std::size_t>(std::ranges::count_if(world.sent, [&](const auto& sent) {
      return sent.first == worker && sent.second.kind == Kind::pull;
    }));
  }
};

/// Peer 2 is the first of two servers of a model of three floats, and holds two floats; the workers
/// are 0 and 1.
class LiedToServer : public LiedTo {
 protected:
  const AlgorithmRow& make_server(const char* kind, const char* order) {
    const AlgorithmRow& row = *find_algorithm(kind, order);
    const auto setup = setup_of(row, 2);
    setup->servers = 2;
    Plan plan;
    plan.id = 2;
    plan.peers = 4;
    plan.setup = setup;
    plan.trains = false;
    plan.links = {0, 1};
    plan.channels = row.channels(*setup, 3);
    plan.rounds = 1;
    make(2, plan);
    return row;
  }
  static Message push(PeerId from, Payload payload) {
    return {from, Kind::push, 0, 0, std::move(payload)};
  }
};

TEST_F(LiedToServer, TakesNoVectorOfAnotherServersLength) {
  for (const auto& [kind, order] : {std::pair{"parameter-server", "sync"},
                                    {"parameter-server", "async"},
                                    {"easgd", "sync"},
                                    {"easgd", "async"},
                                    {"fedavg", ""}}) {
    SCOPED_TRACE(testing::Message() << kind << " " << order);
    const AlgorithmRow& row = make_server(kind, order);
    world.sent.clear();
    Task<> serving = row.serve(*peer);
    serving.start();
    EXPECT_TRUE(peer->deliver(push(0, filled(1, 3)))) << "the other server's length";
    EXPECT_TRUE(peer->deliver(push(1, filled(2, 0))));
    world.work();
    for (const PeerId worker : {0U, 1U}) peer->deliver({worker, Kind::goodbye, 1, 0, nullptr});
    ASSERT_TRUE(serving.done());
    EXPECT_EQ(peer->round, 1U);
    EXPECT_EQ(answers_to(1), 1U);
    for (const float value : x()) EXPECT_LE(value, 1.0F) << "the three counts nowhere";
  }
}

TEST_F(LiedToServer, TakesNoMessageWithoutAVectorWhereNobodyAsks) {
  for (const char* order : {"sync", "async"}) {
    make_server("parameter-server", order);
    EXPECT_FALSE(peer->deliver(push(0, nullptr)));
    EXPECT_FALSE(peer->deliver({0, Kind::push, 0, 1, nullptr}));
  }
  make_server("downpour", "");
  EXPECT_FALSE(peer->deliver(push(0, nullptr)));
  EXPECT_TRUE(peer->deliver({0, Kind::push, 0, 1, nullptr})) << "it asks for the model";
}

/// A peer of a ring of three that averages with one neighbour at a time.
class LiedToInPairs : public LiedTo {
 protected:
  void begin(Round rounds) {
    const AlgorithmRow& row = *find_algorithm("ad-psgd", "");
    Plan plan = ring_plan();
    plan.setup = setup_of(row, 3);
    plan.channels = row.channels(*plan.setup, 2);
    plan.rounds = rounds;
    make(2, plan);
    for (const PeerId from : heard_of)
      EXPECT_TRUE(peer->deliver({from, Kind::push, 0, 0, filled(2, 1)}));
    training.emplace(row.run(*peer));
    training->start();
    world.work();
  }
  void pass_time() {
    for (int k = 0; k < 100 && !training->done(); ++k) {
      if (world.timers.empty()) return;
      const auto [delay, f] = std::move(world.timers.back());
      world.timers.pop_back();
      world.clock += delay;
      f();
      world.work();
    }
  }
  std::vector<PeerId> heard_of;  ///< peers that ask before the first round
  std::optional<Task<>> training;
};

/// An answer to no question, or to a different one, does not count and ends no pair.
TEST_F(LiedToInPairs, AnAnswerToNoQuestionCountsNowhere) {
  begin(1);
  ASSERT_EQ(world.sent.size(), 1U);
  const std::vector<float> before = x();
  const auto [asked, question] = world.sent[0];
  const PeerId other = 3 - asked;
  EXPECT_FALSE(peer->deliver({asked, Kind::push, 0, 1, nullptr}));
  EXPECT_FALSE(peer->deliver({asked, Kind::push, 0, 2, filled(2, 8)}));
  EXPECT_TRUE(peer->deliver({other, Kind::push, 0, 1, filled(2, 8)}));
  EXPECT_TRUE(peer->deliver({asked, Kind::push, 7, 1, filled(2, 8)}));
  world.work();
  EXPECT_EQ(x(), before);
  EXPECT_EQ(peer->round, 0U) << "the pair is open, and nothing is known of how long answers take";
  EXPECT_TRUE(peer->deliver({asked, Kind::push, question.number, 1, filled(2, 8)}));
  world.work();
  EXPECT_NE(x(), before);
  EXPECT_EQ(peer->round, 1U);
  pass_time();
  EXPECT_TRUE(training->done());
}

/// A living neighbour that asks but never answers delays no step, and the end by a deadline only.
TEST_F(LiedToInPairs, AQuestionThatIsNeverAnsweredHoldsUpNobody) {
  heard_of = {1, 2};
  begin(10);
  EXPECT_EQ(peer->round, 10U);
  EXPECT_FALSE(training->done());
  pass_time();
  EXPECT_TRUE(training->done());
}

/// Before a neighbour has sent anything, a peer waits a deadline for its answer.
TEST_F(LiedToInPairs, ANeighborThatSaysNothingIsWaitedForOnce) {
  begin(10);
  EXPECT_EQ(peer->round, 0U);
  pass_time();
  EXPECT_EQ(peer->round, 10U);
  EXPECT_TRUE(training->done());
}

/// Samples that come before a worker has announced spare time would overwrite its own gradient: it
/// returns them unprocessed.
TEST_F(LiedTo, AWorkerTakesNoSamplesBeforeItHasTime) {
  const AlgorithmRow& row = *find_algorithm("flexrr", "");
  Plan plan;
  plan.peers = 3;
  const auto setup = setup_of(row, 2);
  setup->servers = 1;
  setup->most_samples_bytes = 16;
  plan.setup = setup;
  plan.links = {1, 2};
  plan.channels = row.channels(*setup, 2);
  plan.rounds = 1;
  make(2, plan);
  Task<> training = row.run(*peer);
  training.start();
  ASSERT_TRUE(peer->deliver({1, Kind::samples, 0, 3, filled(4, 7)}));
  const auto answer = std::ranges::find_if(
      world.sent, [](const auto& sent) { return sent.second.kind == Kind::reduce; });
  ASSERT_NE(answer, world.sent.end()) << "it is answered at once";
  EXPECT_EQ(answer->first, 1U);
  EXPECT_EQ(answer->second.part, 3U);
  EXPECT_EQ(answer->second.payload, nullptr);
  world.work();
  const auto pushed = std::ranges::find_if(
      world.sent, [](const auto& sent) { return sent.second.kind == Kind::push; });
  ASSERT_NE(pushed, world.sent.end());
  for (const float g : pushed->second.payload->floats())
    EXPECT_LE(std::abs(g), 2.0F) << "of its own samples";
  peer->deliver({2, Kind::pull, 0, 0, filled(2, 0)});
  for (int k = 0; k < 10; ++k) world.work();
  EXPECT_TRUE(training.done());
}

/// Pushes of many rounds, or incomplete pushes, from one neighbour are not kept forever.
TEST_F(LiedTo, PushesWithoutEndAreNotKept) {
  Plan plan = ring_plan();
  plan.setup = std::make_shared<gv::Setup>(gv::Setup{.peers = 3});
  plan.channels = push_channels(*plan.setup, 2, 4);
  plan.links = {1, 2};
  make(2, plan);
  Pushes pushes(*peer, 4);
  std::vector<std::weak_ptr<const Buffer>> sent;
  const auto lie = [&](std::uint64_t round, bool whole) {
    const Payload vector = filled(2, 1);
    sent.push_back(vector);
    peer->deliver({1, Kind::push, round, 0, vector});
    if (whole) peer->deliver({1, Kind::push, round, 1, filled(1, 1)});
  };
  for (std::uint64_t round = 100; round < 200; ++round) {
    lie(round, round % 2 == 0);
    for (bool heard = false; !heard;) {
      Task<bool> hear = pushes.hear({}, 0, {});
      hear.start();
      ASSERT_TRUE(hear.done());
      heard = hear.result();
      while (pushes.take(0)) continue;  // pushes too far ahead count at once
    }
  }
  const auto alive = std::ranges::count_if(sent, [](const auto& each) { return !each.expired(); });
  EXPECT_LE(alive, 6) << "of a hundred";
  EXPECT_GE(alive, 4);
}

}  // namespace
}  // namespace gv

#include "gossip/peer.h"

#include <deque>

#include <gtest/gtest.h>

#include "gossip/registry.h"
#include "gossip/session.h"
#include "optim/host_replica.h"

namespace gv {
namespace {

/// A world without time: jobs run when asked to, and what is sent is kept.
class StillWorld : public World {
 public:
  Time now() const override { return Time{0}; }
  void send(PeerId to, Message message) override { sent.emplace_back(to, std::move(message)); }
  void after(Time, std::function<void()>) override {}
  void offload(double, std::function<void()> job, std::function<void()> done) override {
    jobs.push_back([job = std::move(job), done = std::move(done)] {
      job();
      done();
    });
  }
  void publish(Report report) override { reports.push_back(std::move(report)); }
  std::uint64_t sent_bytes() const override { return 0; }

  void work() {
    while (!jobs.empty()) {
      const auto job = std::move(jobs.front());
      jobs.pop_front();
      job();
    }
  }

  std::vector<std::pair<PeerId, Message>> sent;
  std::deque<std::function<void()>> jobs;
  std::vector<Report> reports;
};

/// Peer 0 of a ring of 3, all weights a third, a quadratic at 1 in every coordinate.
class OnePeer : public testing::Test {
 protected:
  static std::unique_ptr<Replica> ones(std::uint32_t d) {
    QuadraticSpec spec;
    spec.dimension = d;
    spec.noise = 0;
    spec.start = 1;
    return make_host_replica(make_quadratic(spec, 0, 3, Rng(1)), {}, 1, Rng(1));
  }
  void make(std::uint32_t d, Step steps = 100) {
    replica = ones(d);
    Plan plan;
    plan.peers = 3;
    plan.neighborhood = {
        .self = 1.0 / 3, .peers = {1, 2}, .weights = {1.0 / 3, 1.0 / 3}, .receivers = {1, 2}};
    plan.steps = steps;
    peer = std::make_unique<Peer>(plan, world, *replica);
  }
  static Payload filled(std::size_t floats, float value) {
    const auto payload = std::make_shared<Buffer>(floats * sizeof(float));
    std::ranges::fill(payload->floats(), value);
    return payload;
  }
  static Message model(PeerId from, Step step, std::uint32_t part, Payload payload) {
    return {from, Kind::model, step, part, std::move(payload)};
  }
  /// Shares, and mixes what is there.
  Task<> begin_average() {
    Task<> average = peer->average();
    average.start();
    world.work();
    return average;
  }
  std::vector<float> x() const {
    Buffer copy(replica->size() * sizeof(float));
    replica->snapshot(Vector::x, {0, replica->size()}, copy);
    return {copy.floats().begin(), copy.floats().end()};
  }

  StillWorld world;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<Peer> peer;
};

TEST_F(OnePeer, SharesEveryPieceWithEveryReceiver) {
  make(2 * piece_floats + 5);
  Task<> share = peer->share();
  share.start();
  world.work();
  ASSERT_TRUE(share.done());
  ASSERT_EQ(world.sent.size(), 6U);
  for (std::uint32_t part = 0; part < 3; ++part) {
    for (const PeerId to : {1U, 2U}) {
      const auto& [receiver, message] = world.sent[2 * part + to - 1];
      EXPECT_EQ(receiver, to);
      EXPECT_EQ(message.part, part);
      EXPECT_EQ(message.payload->size(), (part < 2 ? piece_floats : 5) * sizeof(float));
    }
    EXPECT_EQ(world.sent[2 * part].second.payload, world.sent[2 * part + 1].second.payload)
        << "one copy serves both";
  }
}

TEST_F(OnePeer, MixesAPieceWhenAllOfItsVersionsHaveCome) {
  make(piece_floats + 1);
  Task<> mix = begin_average();
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(piece_floats, 7))));
  EXPECT_TRUE(peer->deliver(model(2, 0, 1, filled(1, 7))));
  world.work();
  EXPECT_EQ(x().front(), 1) << "peer 1 is still missing";
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(piece_floats, 4))));
  world.work();
  EXPECT_FLOAT_EQ(x().front(), 4);
  EXPECT_EQ(x().back(), 1) << "the second piece waits for peer 1";
  EXPECT_FALSE(mix.done());
  EXPECT_TRUE(peer->deliver(model(1, 0, 1, filled(1, 4))));
  world.work();
  EXPECT_TRUE(mix.done());
  EXPECT_FLOAT_EQ(x().back(), 4);
}

TEST_F(OnePeer, ANeighbourThatLeavesIsMissingFromItsStepOn) {
  make(1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 4))));
  EXPECT_TRUE(peer->deliver({2, Kind::goodbye, 0, 0, nullptr}));
  Task<> mix = begin_average();
  ASSERT_TRUE(mix.done());
  EXPECT_FLOAT_EQ(x()[0], 2) << "1 + (4 - 1) / 3";
  ASSERT_EQ(world.sent.size(), 1U) << "nothing for who has left";
  EXPECT_EQ(world.sent[0].first, 1U);
}

TEST_F(OnePeer, ALostNeighbourIsWaitedForNoMore) {
  make(1);
  Task<> mix = begin_average();
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 4))));
  peer->lost(2);
  world.work();
  EXPECT_TRUE(mix.done());
  EXPECT_FLOAT_EQ(x()[0], 2);
}

TEST_F(OnePeer, RefusesWhatItCannotExpect) {
  make(piece_floats + 1);
  EXPECT_FALSE(peer->deliver(model(1, 0, 0, filled(piece_floats - 1, 0)))) << "too short";
  EXPECT_FALSE(peer->deliver(model(1, 0, 2, filled(1, 0)))) << "no such piece";
  EXPECT_FALSE(peer->deliver(model(1, 0, 1, nullptr))) << "no payload";
  EXPECT_FALSE(peer->deliver(model(1, 2, 1, filled(1, 0)))) << "too far ahead";
  EXPECT_FALSE(peer->deliver(model(3, 0, 1, filled(1, 0)))) << "no neighbour";
  EXPECT_TRUE(peer->deliver(model(1, 1, 1, filled(1, 0))));
  EXPECT_FALSE(peer->deliver(model(1, 1, 1, filled(1, 0)))) << "twice";
}

TEST_F(OnePeer, LastWordsGoToEveryNeighbourAndToTheObserver) {
  make(1, 0);
  Task<> life = live(*peer, d_psgd_lian);
  life.start();
  world.work();
  ASSERT_TRUE(life.done());
  ASSERT_EQ(world.sent.size(), 2U);
  for (const auto& [to, message] : world.sent) EXPECT_EQ(message.kind, Kind::goodbye);
  ASSERT_EQ(world.reports.size(), 1U);
  EXPECT_TRUE(world.reports[0].last);
}

/// A neighbour that is away leaves its exchange open; its half is applied when it is back, against
/// what was sent to it, although x has moved on; and no other exchange begins before.
TEST_F(OnePeer, SettlesLateAgainstWhatItSent) {
  make(1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 4))));
  Task<> first = begin_average();
  EXPECT_FALSE(first.done()) << "it waits for peer 2";
  peer->away(2);
  world.work();
  ASSERT_TRUE(first.done());
  EXPECT_FLOAT_EQ(x()[0], 2) << "1 + (4 - 1) / 3";
  EXPECT_EQ(peer->open_exchanges(), 1U);

  ++peer->step;
  world.sent.clear();
  EXPECT_TRUE(peer->deliver(model(1, 1, 0, filled(1, 2))));
  Task<> second = begin_average();
  ASSERT_TRUE(second.done()) << "nobody waits for who is away";
  ASSERT_EQ(world.sent.size(), 1U) << "nothing new for peer 2 while its exchange is open";
  EXPECT_FLOAT_EQ(x()[0], 2);

  peer->back(2);
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 7))));
  ++peer->step;
  world.sent.clear();
  EXPECT_TRUE(peer->deliver(model(1, 2, 0, filled(1, 4))));
  Task<> third = begin_average();
  EXPECT_FALSE(third.done()) << "a new exchange with peer 2 has begun";
  EXPECT_FLOAT_EQ(x()[0], 4) << "2 + (7 - 1) / 3: against the 1 that was sent, not the 2 of now";
  ASSERT_EQ(world.sent.size(), 2U);
  EXPECT_EQ(world.sent[1].second.step, 1U) << "the second exchange with peer 2, in round 2";
  EXPECT_TRUE(peer->deliver(model(2, 1, 0, filled(1, 4))));
  world.work();
  EXPECT_TRUE(third.done());
  EXPECT_EQ(peer->open_exchanges(), 0U);
}

TEST_F(OnePeer, TheLastExchangeIsSettledBeforeTheGoodbye) {
  make(1, 1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 1))));
  Task<> average = begin_average();
  peer->away(2);
  world.work();
  ASSERT_TRUE(average.done());
  peer->back(2);
  Task<> finish = peer->finish();
  finish.start();
  world.work();
  EXPECT_FALSE(finish.done()) << "peer 2 owes its half";
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(1, 4))));
  world.work();
  EXPECT_TRUE(finish.done());
  EXPECT_FLOAT_EQ(x()[0], 2);
  for (const auto& [to, message] : world.sent) {
    if (message.kind != Kind::goodbye) continue;
    EXPECT_EQ(message.step, 1U);
  }
}

TEST(Session, NumbersKeepsAndForgets) {
  Session session;
  for (Step step = 0; step < 3; ++step)
    EXPECT_EQ(session.send({0, Kind::goodbye, step, 0, nullptr}).number, step + 1);
  EXPECT_FALSE(session.acknowledge(4)) << "never sent";
  EXPECT_TRUE(session.acknowledge(2));
  ASSERT_EQ(session.unacknowledged().size(), 1U);
  EXPECT_EQ(session.unacknowledged().front().message.step, 2U);
  EXPECT_TRUE(session.acknowledge(1)) << "an old one says nothing new";
  EXPECT_EQ(session.unacknowledged().size(), 1U);
}

TEST(Session, TakesEachNumberOnceAndInOrder) {
  Session session;
  EXPECT_EQ(session.arrive(1), Session::Arrival::next);
  EXPECT_EQ(session.arrive(1), Session::Arrival::again);
  EXPECT_EQ(session.arrive(3), Session::Arrival::gap);
  EXPECT_EQ(session.arrive(2), Session::Arrival::next);
  EXPECT_EQ(session.received(), 2U);
}

TEST(Registry, FindsAlgorithmsByKindAndOrder) {
  EXPECT_EQ(find_algorithm("d-psgd", "")->run, d_psgd_lian);
  EXPECT_EQ(find_algorithm("d-psgd", "cta")->run, d_psgd_cta);
  EXPECT_EQ(find_algorithm("d-psgd", "sideways"), nullptr);
  EXPECT_EQ(find_algorithm("gossip", ""), nullptr);
}

}  // namespace
}  // namespace gv

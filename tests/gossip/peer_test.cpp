#include "gossip/peer.h"

#include <array>
#include <cmath>
#include <deque>
#include <limits>

#include <gtest/gtest.h>

#include "gossip/registry.h"
#include "gossip/session.h"
#include "graph/one_peer.h"
#include "graph/periodic_schedule.h"
#include "optim/host_replica.h"

namespace gv {
namespace {

/// A world without time: jobs run when asked to, and what is sent is kept.
class StillWorld : public World {
 public:
  Time now() const override { return clock; }
  void send(PeerId to, Message message) override { sent.emplace_back(to, std::move(message)); }
  void after(Time delay, std::function<void()> f) override {
    timers.emplace_back(delay, std::move(f));
  }
  void offload(double, std::function<void()> job, std::function<void()> done) override {
    jobs.push_back([job = std::move(job), done = std::move(done)] {
      job();
      done();
    });
  }
  void publish(Report report) override { reports.push_back(std::move(report)); }
  std::uint64_t sent_bytes() const override { return 0; }
  void store(Step step, std::vector<std::byte>) override { stored.push_back(step); }
  void settled(const Settlement& settlement) override { settlements.push_back(settlement); }
  void say(const std::string& line) override { said += line + "\n"; }

  void work() {
    while (!jobs.empty()) {
      const auto job = std::move(jobs.front());
      jobs.pop_front();
      job();
    }
  }

  Time clock{0};
  std::vector<std::pair<Time, std::function<void()>>> timers;
  std::vector<std::pair<PeerId, Message>> sent;
  std::deque<std::function<void()>> jobs;
  std::vector<Report> reports;
  std::vector<Settlement> settlements;
  std::string said;
  std::vector<Step> stored;
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
  static Plan ring_plan() {
    Plan plan;
    plan.peers = 3;
    plan.neighborhood = {
        .self = 1.0 / 3, .peers = {1, 2}, .weights = {1.0 / 3, 1.0 / 3}, .receivers = {1, 2}};
    plan.steps = 100;
    return plan;
  }
  void make(std::uint32_t d, Step steps = 100) {
    Plan plan = ring_plan();
    plan.steps = steps;
    make(d, plan);
  }
  void make(std::uint32_t d, const Plan& plan) {
    replica = ones(d);
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
  EXPECT_TRUE(peer->deliver({2, Kind::goodbye, 0, 0, nullptr}));
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

TEST_F(OnePeer, WeighsAnEdgeByBothEndsDegreesOfTheMoment) {
  Plan plan = ring_plan();
  plan.live_degrees = true;
  make(1, plan);
  peer->away(2);
  Message half = model(1, 0, 0, filled(1, 4));
  half.degree = 3;
  EXPECT_TRUE(peer->deliver(half));
  Task<> first = begin_average();
  ASSERT_TRUE(first.done());
  EXPECT_EQ(world.sent.at(0).second.degree, 1U) << "peer 2 is away";
  EXPECT_FLOAT_EQ(x()[0], 1 + 3.0F / 4) << "1 / (1 + max(1, 3))";
  ASSERT_EQ(world.settlements.size(), 1U);
  EXPECT_EQ(world.settlements[0].weight, 0.25F);
  EXPECT_EQ(world.settlements[0].ours->floats()[0], 1);
  EXPECT_EQ(world.settlements[0].theirs->floats()[0], 4);
}

TEST_F(OnePeer, ValuesThatAreNotFiniteFlowNowhereAndEndInQuarantine) {
  make(3);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (Step k = 0; k < 3; ++k) {
    const auto bad = std::make_shared<Buffer>(3 * sizeof(float));
    std::ranges::copy(std::array{nan, 1.0F, INFINITY}, bad->floats().begin());
    EXPECT_TRUE(peer->deliver(model(1, k, 0, bad)));
    EXPECT_TRUE(peer->deliver(model(2, k, 0, filled(3, 1))));
    Task<> average = begin_average();
    ASSERT_TRUE(average.done());
    EXPECT_EQ(x(), (std::vector<float>{1, 1, 1}));
    ++peer->step;
  }
  EXPECT_NE(world.said.find("(3 of 3)"), std::string::npos) << world.said;
  world.sent.clear();
  EXPECT_TRUE(peer->deliver(model(2, 3, 0, filled(3, 1))));
  Task<> average = begin_average();
  ASSERT_TRUE(average.done()) << "peer 1 is waited for no more";
  ASSERT_FALSE(world.sent.empty());
  EXPECT_EQ(world.sent[0].second.kind, Kind::goodbye);
  EXPECT_EQ(world.sent[0].second.step, 3U) << "the first exchange that will not be";
}

/// The dead one may have applied its half or not: at this end what is left of the exchange counts
/// no more, and the successor's exchanges begin at 0.
TEST_F(OnePeer, ASuccessorBeginsAnew) {
  make(piece_floats + 1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(piece_floats, 1))));
  EXPECT_TRUE(peer->deliver(model(1, 0, 1, filled(1, 1))));
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(piece_floats, 4))));
  Task<> first = begin_average();
  EXPECT_FALSE(first.done()) << "the second piece of peer 2 is missing";
  peer->reborn(2);
  world.work();
  ASSERT_TRUE(first.done());
  EXPECT_EQ(peer->open_exchanges(), 0U);
  EXPECT_FLOAT_EQ(x().front(), 2) << "what counted before stays";
  EXPECT_EQ(peer->exchanges(), (std::map<PeerId, Step>{{1, 1}, {2, 0}}));
  EXPECT_TRUE(peer->deliver(model(2, 0, 0, filled(piece_floats, 4)))) << "exchange 0 again";
}

TEST_F(OnePeer, GivesItsModelToWhoAsks) {
  make(piece_floats + 1);
  Task<> join = peer->join();
  join.start();
  EXPECT_TRUE(peer->deliver({2, Kind::fetch, 0, 0, nullptr}));
  world.work();
  ASSERT_EQ(world.sent.size(), 2U);
  for (std::uint32_t part = 0; part < 2; ++part) {
    EXPECT_EQ(world.sent[part].first, 2U);
    EXPECT_EQ(world.sent[part].second.kind, Kind::state);
    EXPECT_EQ(world.sent[part].second.part, part);
    EXPECT_EQ(world.sent[part].second.payload->floats()[0], 1);
  }
}

TEST_F(OnePeer, TakesAModelFromTheFirstNeighbourThatHasOne) {
  Plan plan = ring_plan();
  plan.fetch = true;
  plan.catch_up = true;
  make(1, plan);
  Task<> join = peer->join();
  join.start();
  EXPECT_TRUE(peer->deliver({2, Kind::fetch, 0, 0, nullptr}));
  world.work();
  ASSERT_EQ(world.sent.size(), 2U);
  EXPECT_EQ(world.sent[0].first, 1U);
  EXPECT_EQ(world.sent[0].second.kind, Kind::fetch);
  EXPECT_EQ(world.sent[1].second.payload, nullptr) << "it has none to give itself";
  EXPECT_TRUE(peer->deliver({1, Kind::state, 0, 0, nullptr}));
  EXPECT_EQ(world.sent.at(2).first, 2U) << "now the next one is asked";
  Message state{2, Kind::state, 0, 0, filled(1, 9)};
  state.round = 17;
  EXPECT_TRUE(peer->deliver(state));
  world.work();
  ASSERT_TRUE(join.done());
  EXPECT_EQ(x()[0], 9);
  EXPECT_EQ(peer->step, 17U) << "it goes on in their round";
}

TEST_F(OnePeer, GoesOnInTheRoundOfItsNeighbours) {
  Plan plan = ring_plan();
  plan.catch_up = true;
  plan.evaluate_every = 10;
  make(1, plan);
  peer->heard_round(1, 3);
  Task<> end = peer->end_step();
  end.start();
  EXPECT_EQ(peer->step, 1U);
  peer->heard_round(2, 25);
  Task<> next = peer->end_step();
  next.start();
  world.work();
  EXPECT_EQ(peer->step, 25U);
  EXPECT_EQ(peer->clock(), 25U);
  ASSERT_EQ(world.reports.size(), 1U) << "rounds 10 and 20 lie on the way";
  EXPECT_EQ(world.reports[0].step, 20U);
}

/// A neighbour whose loop lives and whose trainer is stuck.
TEST_F(OnePeer, WaitsForALivingNeighbourOnlySoLong) {
  make(1);
  EXPECT_TRUE(peer->deliver(model(1, 0, 0, filled(1, 4))));
  Task<> first = begin_average();
  EXPECT_FALSE(first.done());
  ASSERT_EQ(world.timers.size(), 1U);
  EXPECT_EQ(world.timers[0].first, peer->plan.deadline);
  world.clock += peer->plan.deadline;
  world.timers[0].second();
  world.work();
  ASSERT_TRUE(first.done());
  EXPECT_EQ(peer->open_exchanges(), 1U);
  EXPECT_NE(world.said.find("peer 2 has not sent piece 0 of exchange 0"), std::string::npos);
}

/// Peer 0 meets peer 1 in even rounds, half and half, and peer 2 in odd ones, a quarter.
class ScheduledPeer : public OnePeer {
 protected:
  void SetUp() override {
    const auto pairs = [](PeerId other, double weight) {
      std::vector<Neighborhood> rows(3);
      rows[0] = pair_row(0, other, weight);
      rows[other] = pair_row(other, 0, weight);
      return MixingMatrix(std::move(rows), false);
    };
    Plan plan;
    plan.peers = 3;
    plan.schedule = std::make_shared<PeriodicSchedule>(
        std::vector<MixingMatrix>{pairs(1, 0.5), pairs(2, 0.25)});
    plan.neighborhood = plan.schedule->links(0);
    plan.steps = 100;
    plan.catch_up = true;
    make(1, plan);
    Task<> join = peer->join();
    join.start();
  }
  void end_step() {
    Task<> end = peer->end_step();
    end.start();
    world.work();
  }
  static Message half(PeerId from, Step exchange, Step round, float value) {
    Message m = model(from, exchange, 0, filled(1, value));
    m.round = round;
    return m;
  }
};

TEST_F(ScheduledPeer, ExchangesWithWhoStandsInTheRow) {
  EXPECT_TRUE(peer->deliver(half(2, 0, 1, 5))) << "early: peer 2 is a round ahead";
  EXPECT_TRUE(peer->deliver(half(1, 0, 0, 3)));
  Task<> first = begin_average();
  ASSERT_TRUE(first.done());
  ASSERT_EQ(world.sent.size(), 1U);
  EXPECT_EQ(world.sent[0].first, 1U);
  EXPECT_EQ(x()[0], 2) << "1 + (3 - 1) / 2";
  end_step();
  Task<> second = begin_average();
  ASSERT_TRUE(second.done());
  ASSERT_EQ(world.sent.size(), 2U);
  EXPECT_EQ(world.sent[1].first, 2U);
  EXPECT_EQ(world.sent[1].second.step, 0U) << "the first exchange of this edge";
  EXPECT_EQ(world.sent[1].second.round, 1U);
  EXPECT_EQ(x()[0], 2.75F) << "2 + (5 - 2) / 4";
}

/// Peer 1 began an exchange in a round in which it was away here: it is answered in the next one,
/// with the weight of its round.
TEST_F(ScheduledPeer, AnswersWhatBeganWithoutIt) {
  peer->away(1);
  Task<> first = begin_average();
  ASSERT_TRUE(first.done());
  EXPECT_TRUE(world.sent.empty());
  end_step();
  EXPECT_EQ(peer->clock(), 1U) << "peer 2 lives, so the round counts";
  peer->back(1);
  EXPECT_TRUE(peer->deliver(half(1, 0, 0, 3)));
  EXPECT_TRUE(peer->deliver(half(2, 0, 1, 5)));
  Task<> second = begin_average();
  ASSERT_TRUE(second.done());
  EXPECT_EQ(world.sent.size(), 2U);
  ASSERT_EQ(world.settlements.size(), 2U);
  EXPECT_EQ(world.settlements[0].weight, 0.5F);
  EXPECT_EQ(world.settlements[1].weight, 0.25F);
}

/// The other end of the same: its half comes with a later round.
TEST_F(ScheduledPeer, TheEarlierRoundGivesTheWeight) {
  Task<> first = begin_average();
  EXPECT_FALSE(first.done());
  EXPECT_TRUE(peer->deliver(half(1, 0, 1, 3))) << "in round 1, whose row it is not in";
  world.work();
  ASSERT_TRUE(first.done());
  ASSERT_EQ(world.settlements.size(), 1U);
  EXPECT_EQ(world.settlements[0].weight, 0.5F);
}

/// In round 0 peer 2 needs nobody: it may complete it before this peer has begun, and that is no
/// reason to take its model. (Real fleets begin within milliseconds, not at once.)
TEST_F(ScheduledPeer, JoinsBehindAsFarAsTheScheduleLeavesIt) {
  for (const Step ahead : {1U, 2U}) {
    make(1, peer->plan);
    world.sent.clear();
    peer->heard_round(2, ahead);
    Task<> join = peer->join();
    join.start();
    EXPECT_EQ(join.done(), ahead == 1);
    EXPECT_EQ(peer->step, 0U);
    EXPECT_EQ(world.sent.size(), ahead == 1 ? 0U : 1U) << "it asks for a model";
  }
}

/// What belongs to a round that has not begun here.
TEST_F(ScheduledPeer, HurriesForNobodyWhoIsAhead) {
  peer->away(1);
  Task<> first = begin_average();
  end_step();
  peer->back(1);
  Task<> second = begin_average();
  EXPECT_FALSE(second.done()) << "it waits for peer 2";
  const std::size_t timers = world.timers.size();
  EXPECT_TRUE(peer->deliver(half(1, 0, 2, 3)));
  EXPECT_EQ(world.timers.size(), timers);
}

/// Peer 1 waits for an answer, and must not do so until peer 2 has come.
TEST_F(ScheduledPeer, HurriesForWhatIsLate) {
  peer->away(1);
  Task<> first = begin_average();
  end_step();
  peer->back(1);
  Task<> second = begin_average();
  const std::size_t timers = world.timers.size();
  EXPECT_TRUE(peer->deliver(half(1, 0, 0, 3)));
  ASSERT_EQ(world.timers.size(), timers + 1);
  EXPECT_EQ(world.timers.back().first, peer->plan.hurry);
  world.timers.back().second();
  world.work();
  EXPECT_TRUE(second.done());
}

/// Peer 1 is behind: their exchange of this round is settled, and it begins the one of a later
/// round of its own, which has passed here.
TEST_F(ScheduledPeer, HurriesForTheNextOneOfWhoIsBehind) {
  for (int k = 0; k < 2; ++k) {
    EXPECT_TRUE(peer->deliver(k == 0 ? half(1, 0, 0, 1) : half(2, 0, 1, 1)));
    Task<> average = begin_average();
    ASSERT_TRUE(average.done());
    end_step();
  }
  EXPECT_TRUE(peer->deliver(half(1, 1, 0, 1)));
  peer->back(2);
  Task<> third = begin_average();
  ASSERT_TRUE(third.done()) << "round 2 is peer 1's, and its half had come";
  end_step();
  Task<> fourth = begin_average();
  EXPECT_FALSE(fourth.done()) << "it waits for peer 2";
  const std::size_t timers = world.timers.size();
  EXPECT_TRUE(peer->deliver(half(1, 2, 2, 1)));
  EXPECT_EQ(world.timers.size(), timers + 1);
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

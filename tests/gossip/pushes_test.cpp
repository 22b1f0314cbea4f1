#include "gossip/steps/pushes.h"

#include <chrono>
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "tests/gossip/one_peer.h"
#include "tests/mutants/bad_rules.h"

// Messages of neighbours that push: the length of a round's wait, and the pushes that count. Wrong
// rules show that the tests would notice.

namespace gv {
namespace {

/// A peer with neighbours that push.
struct PushedTo {
  PeerId neighbors = 2;
  std::uint32_t ahead = 3;
  Time deadline{std::chrono::milliseconds(100)};

  static PushedTo drawn(Rng& rng) {
    return {.neighbors = static_cast<PeerId>(2 + rng.below(7)),
            .ahead = static_cast<std::uint32_t>(1 + rng.below(9)),
            .deadline = std::chrono::milliseconds(1 + rng.below(1000))};
  }
};

class Pushed : public OnePeer {
 protected:
  void make_pushed_to(const PushedTo& shape, const Rules& rules) {
    Plan plan = ring_plan();
    plan.peers = shape.neighbors + 1;
    plan.setup = std::make_shared<gv::Setup>(gv::Setup{.peers = plan.peers});
    plan.channels = push_channels(*plan.setup, 2, shape.ahead);
    for (PeerId j = 1; j <= shape.neighbors; ++j) plan.links.push_back(j);
    plan.deadline = shape.deadline;
    world.clock = Time{0};
    world.timers.clear();
    due_.clear();
    replica = ones(2);
    peer = std::make_unique<Peer>(plan, world, journal, *replica, rules);
  }
  void push(PeerId from, Round round) {
    peer->deliver({from, Kind::push, round, 0, filled(2, 1)});
    peer->deliver({from, Kind::push, round, 1, filled(1, 1)});
  }
  /// Receives, and takes every push that counts before the round; returns false if it still waits.
  bool heard(Pushes& pushes, std::optional<Task<bool>>& hear, Round round) {
    for (;;) {
      if (!hear) {
        hear = pushes.hear(peer->plan.links, round, {});
        hear->start();
      }
      if (!hear->done()) return false;
      const bool all = hear->result();
      hear.reset();
      while (pushes.take(round - 1)) ++taken_;
      if (all) return true;
    }
  }
  void pass(Time time) {
    for (auto& [delay, f] : world.timers) due_.emplace_back(world.clock + delay, std::move(f));
    world.timers.clear();
    world.clock += time;
    std::vector<std::function<void()>> now;
    for (auto& [at, f] : due_)
      if (at <= world.clock) now.push_back(std::move(f));
    std::erase_if(due_, [&](const auto& each) { return each.first <= world.clock; });
    for (const auto& f : now) f();
  }

  std::size_t taken_ = 0;

 private:
  std::vector<std::pair<Time, std::function<void()>>> due_;
};

/// Returns the duration of a round in deadlines, if one neighbour is silent and the others send ten
/// times in each deadline, for thirty times.
class WithASilentNeighbor : public Pushed {
 protected:
  double deadlines_of(const PushedTo& shape, const Rules& rules) {
    constexpr int times = 10, pushes_of_each = 30;
    make_pushed_to(shape, rules);
    Pushes pushes(*peer, shape.ahead);
    std::optional<Task<bool>> hear;
    for (Round round = 1; !heard(pushes, hear, 1) && round < 100; ++round) {
      for (PeerId j = 2; j <= shape.neighbors && round <= pushes_of_each; ++j) {
        push(j, round);
        if (heard(pushes, hear, 1)) break;
      }
      pass(shape.deadline / times);
    }
    return std::chrono::duration<double>(world.clock) /
           std::chrono::duration<double>(shape.deadline);
  }
};

/// Found in relay-sgd and sgp after a peer had stood still: a round took a deadline for each
/// message that came meanwhile.
TEST_F(WithASilentNeighbor, ARoundLastsOneDeadline) {
  Rng rng = Rng(1).derive("one deadline");
  for (int draw = 0; draw < 50; ++draw) {
    const PushedTo shape = PushedTo::drawn(rng);
    SCOPED_TRACE(testing::Message() << shape.neighbors << " neighbours, " << shape.ahead);
    EXPECT_NEAR(deadlines_of(shape, documented_rules()), 1, 0.11);
    EXPECT_GT(deadlines_of(shape, mutants::DeadlineOfEach()), 2) << "what is planted is seen";
  }
}

/// Found there, too: a peer that had stood still kept the oldest pushes and never learnt how far
/// the others were; with sgp the mass of dropped pushes was lost.
TEST_F(Pushed, AllCountsHoweverFarAheadItsSenderIs) {
  Rng rng = Rng(1).derive("far ahead");
  for (int draw = 0; draw < 50; ++draw) {
    const PushedTo shape = PushedTo::drawn(rng);
    SCOPED_TRACE(testing::Message() << shape.neighbors << " neighbours, " << shape.ahead);
    const std::uint64_t sent = 2 * shape.ahead + rng.below(50);
    const auto counted = [&](const Rules& rules) {
      make_pushed_to(shape, rules);
      taken_ = 0;
      Pushes pushes(*peer, shape.ahead);
      std::optional<Task<bool>> hear;
      for (Round round = 1; round <= sent; ++round) {
        push(1, round);
        heard(pushes, hear, 1);
      }
      while (pushes.take(sent)) ++taken_;
      return taken_;
    };
    EXPECT_EQ(counted(documented_rules()), sent);
    EXPECT_LT(counted(mutants::KeepsTheOldest()), sent) << "what is planted is seen";
  }
}

}  // namespace
}  // namespace gv

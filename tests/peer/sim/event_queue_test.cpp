#include <string>

#include <gtest/gtest.h>

#include "peer/sim/world/processes.h"

namespace gv {
namespace {

struct Events {
  void say(int at, const std::string& word) {
    queue.push(Time{at}, [this, word = std::string(word)] { said += word; });
  }
  std::string run() {
    while (!queue.empty()) queue.run_next();
    return said;
  }
  EventQueue queue;
  std::string said;
};

TEST(EventQueue, WhatHappensIsInOrderOfTimeAndThenOfArrival) {
  Events events;
  for (int round = 0; round < 3; ++round) {  // the memory of past instants is used again
    const int t = 100 * round;
    events.say(t + 5, "c");
    events.say(t + 3, "a");
    events.say(t + 5, "d");
    events.say(t + 3, "b");
    events.say(t + 9, "e ");
    events.run();
    EXPECT_EQ(events.queue.now(), Time{t + 9});
  }
  EXPECT_EQ(events.said, "abcde abcde abcde ");
  EXPECT_EQ(events.queue.events(), 15U);
}

TEST(EventQueue, WhatIsPushedForNowOrThePastComesAtTheEndOfThisInstant) {
  Events events;
  events.queue.push(Time{5}, [&] {
    events.say(5, "c");
    events.say(1, "d");
    events.said += "a";
  });
  events.say(5, "b");
  events.say(6, "e");
  EXPECT_EQ(events.run(), "abcde");
}

TEST(EventQueue, TheLastEventOfAnInstantMayPushMoreOfIt) {
  Events events;
  events.queue.push(Time{5}, [&] {
    EXPECT_FALSE(events.queue.more_now());
    events.say(5, "a");
    EXPECT_TRUE(events.queue.more_now());
  });
  EXPECT_EQ(events.run(), "a");
}

TEST(EventQueue, ARowIsAnInstant) {
  Events events;
  events.say(5, "b");
  events.say(3, "x");
  events.say(3, "y");
  std::vector<Waiting> row;
  events.queue.take_row(row);
  ASSERT_EQ(row.size(), 2U);
  EXPECT_EQ(events.queue.now(), Time{3});
  events.say(3, "a");
  for (Waiting& each : row) each.event();
  EXPECT_EQ(events.run(), "xyab");
}

TEST(EventQueue, IdleEventsDoNotKeepItBusy) {
  Events events;
  events.say(2, "a");
  events.queue.push_idle(Time{7}, [] {});
  EXPECT_EQ(events.queue.idle_since(), Time{0}) << "there is something to come";
  events.queue.run_next();
  events.queue.run_next();
  EXPECT_EQ(events.queue.now(), Time{7});
  EXPECT_EQ(events.queue.idle_since(), Time{2});
}

}  // namespace
}  // namespace gv

#include "gossip/seam/costs.h"
#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

class Sheet : public testing::Test {
 protected:
  void SetUp() override {
    sheet.keep_intervals(true);
    sheet.begin();
  }
  void pass(int time) { world.clock += Time{time}; }
  int spent(Activity activity) const { return static_cast<int>(sheet.spent()[activity].count()); }

  StillWorld world;
  Timesheet sheet{world, 2};
};

TEST_F(Sheet, JobsCountInTheOrderInWhichTheyWereOffered) {
  pass(3);
  sheet.job_offered(Activity::compute);
  pass(10);
  sheet.job_offered(Activity::mix);  // waits for the gradient
  pass(20);
  sheet.job_done();
  pass(5);
  sheet.job_done();
  pass(2);
  EXPECT_EQ(spent(Activity::other), 5);
  EXPECT_EQ(spent(Activity::compute), 30);
  EXPECT_EQ(spent(Activity::mix), 5);
  EXPECT_EQ(sheet.spent().total(), world.clock);
}

/// Jobs in the lane `home` count as part of a gradient that runs in the other lane.
TEST_F(Sheet, JobsOfTwoLanesEndInAnyOrder) {
  sheet.job_offered(Activity::compute, Lane::beside);
  pass(10);
  sheet.job_offered(Activity::mix);
  pass(5);
  sheet.job_done();
  pass(20);
  sheet.job_offered(Activity::mix);
  pass(1);
  sheet.job_done(Lane::beside);
  pass(3);
  sheet.job_done();
  EXPECT_EQ(spent(Activity::compute), 36);
  EXPECT_EQ(spent(Activity::mix), 3);
}

TEST_F(Sheet, AWaitIsLatenessUntilTheMessageWasSentAndWireFromThen) {
  sheet.wait_begins(world.clock);
  pass(50);
  EXPECT_EQ(spent(Activity::late), 50) << "nobody knows better yet";
  sheet.wait_ends(world.clock, 1, Time{30});
  EXPECT_EQ(spent(Activity::late), 30);
  EXPECT_EQ(spent(Activity::wire), 20);
  EXPECT_EQ(sheet.waits()[1].late, Time{30});
  EXPECT_EQ(sheet.waits()[1].wire, Time{20});
  EXPECT_EQ(sheet.waits()[1].longest, Time{50});
  EXPECT_EQ(sheet.waits()[0].longest, Time{0});
  const std::vector<Interval> kept = sheet.take_intervals();
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].activity, Activity::late);
  EXPECT_EQ(kept[0].end, Time{30});
  EXPECT_EQ(kept[1].neighbor, 1U);
  EXPECT_EQ(kept[1].end, Time{50});
  EXPECT_TRUE(sheet.take_intervals().empty());
}

/// Found by trying: while a peer was stopped, the links from its senders were reported as slow.
TEST_F(Sheet, WhileTheProcessStandsStillNothingIsOnItsWay) {
  sheet.wait_begins(world.clock);
  pass(1000);
  world.stood = Time{900};
  sheet.wait_ends(world.clock, 1, Time{60});
  EXPECT_EQ(spent(Activity::late), 6);
  EXPECT_EQ(spent(Activity::wire), 94);
  EXPECT_EQ(spent(Activity::other), 900);
  EXPECT_EQ(sheet.waits()[1].wire, Time{94});
  sheet.job_offered(Activity::compute);
  pass(500);
  world.stood += Time{450};
  sheet.job_done();
  EXPECT_EQ(spent(Activity::compute), 50);
  EXPECT_EQ(sheet.spent().total(), world.clock);
}

/// A process that is stopped repeatedly waits for a slow link in the moments between. Found by
/// trying: all these waits counted as time before the message was sent.
TEST_F(Sheet, ShortStopsTakeTheirShareOfLatenessAndWire) {
  sheet.wait_begins(world.clock);
  pass(1000);
  world.stood = Time{800};
  EXPECT_EQ(spent(Activity::late), 1000) << "nobody knows better yet";
  sheet.job_offered(Activity::mix);
  EXPECT_EQ(spent(Activity::late), 200);
  EXPECT_EQ(spent(Activity::other), 800);
  pass(10);
  sheet.job_done();
  pass(500);
  world.stood += Time{400};
  sheet.wait_ends(world.clock, 0, Time{250});
  EXPECT_EQ(spent(Activity::late), 50);
  EXPECT_EQ(spent(Activity::wire), 250);
  EXPECT_EQ(spent(Activity::mix), 10);
  EXPECT_EQ(spent(Activity::other), 1200);
  EXPECT_EQ(sheet.waits()[0].late, Time{50});
  EXPECT_EQ(sheet.waits()[0].wire, Time{250});
  EXPECT_EQ(sheet.spent().total(), world.clock);
}

TEST_F(Sheet, AWaitWithoutAMessageIsAllLateness) {
  sheet.wait_begins(world.clock);
  pass(40);
  sheet.wait_ends(world.clock, 0, {});
  EXPECT_EQ(spent(Activity::late), 40);
  EXPECT_EQ(spent(Activity::wire), 0);
}

TEST_F(Sheet, WhatWasSentBeforeTheWaitIsWireAlone) {
  pass(100);
  sheet.wait_begins(world.clock);
  pass(10);
  sheet.wait_ends(world.clock, 0, Time{60});
  EXPECT_EQ(spent(Activity::late), 0);
  EXPECT_EQ(spent(Activity::wire), 10);
  EXPECT_EQ(sheet.spent().hidden_wire, Time{40}) << "the part of the way before the wait";
}

TEST_F(Sheet, WorkDuringAWaitIsWork) {
  sheet.wait_begins(world.clock);
  pass(10);
  sheet.job_offered(Activity::mix);  // a neighbour asked for our model
  pass(7);
  sheet.job_done();
  pass(3);
  sheet.wait_ends(world.clock, 0, Time{18});
  EXPECT_EQ(spent(Activity::late), 11);
  EXPECT_EQ(spent(Activity::mix), 7);
  EXPECT_EQ(spent(Activity::wire), 2);
}

TEST_F(Sheet, TheWayOfAMessageIsHiddenWhereNobodyWaits) {
  pass(100);
  sheet.arrives(Time{70});
  EXPECT_EQ(sheet.spent().hidden_wire, Time{30});
  sheet.wait_begins(world.clock);
  sheet.arrives(Time{70});
  EXPECT_EQ(sheet.spent().hidden_wire, Time{30});
  sheet.arrives(Time{1000});  // a false time stamp
  EXPECT_EQ(sheet.spent().hidden_wire, Time{30});
}

/// Found by trying: a ring with rounds of 107 ms had 501 ms of hidden wire in each, because
/// messages that travelled at the same time were added.
TEST_F(Sheet, MessagesThatTravelTogetherCountOnce) {
  const auto hidden = [&] { return static_cast<int>(sheet.spent().hidden_wire.count()); };
  pass(100);
  sheet.arrives(Time{20});
  sheet.arrives(Time{20});
  EXPECT_EQ(hidden(), 80);
  pass(10);
  sheet.arrives(Time{60});
  EXPECT_EQ(hidden(), 90) << "the last ten alone are new";
  pass(90);
  sheet.arrives(Time{150});
  EXPECT_EQ(hidden(), 140);
  sheet.arrives(Time{5});
  EXPECT_EQ(hidden(), 195) << "the gaps before 20 and between 110 and 150";
  EXPECT_LE(hidden(), world.clock.count());
}

TEST_F(Sheet, WhatIsWaitedForIsHiddenNowhere) {
  pass(50);
  sheet.wait_begins(world.clock);
  pass(10);
  sheet.arrives(Time{30});  // from another neighbour: hidden until the wait began
  EXPECT_EQ(sheet.spent().hidden_wire, Time{20});
  pass(10);
  sheet.wait_ends(world.clock, 0, Time{40});
  EXPECT_EQ(sheet.spent().hidden_wire, Time{20});
  pass(5);
  sheet.arrives(Time{35});  // travelled through the wait
  EXPECT_EQ(sheet.spent().hidden_wire, Time{25});
  EXPECT_EQ(spent(Activity::late) + spent(Activity::wire), 20);
}

/// The remembered intervals are bounded, and a forgotten one does not count twice.
TEST_F(Sheet, HiddenWireIsNeverMoreThanTheTimeThatPassed) {
  for (int k = 0; k < 2000; ++k) {
    pass(2);
    sheet.arrives(world.clock - Time{1});
  }
  EXPECT_EQ(sheet.spent().hidden_wire, Time{2000});
  sheet.arrives(Time{0});
  EXPECT_GT(sheet.spent().hidden_wire, Time{2000});
  EXPECT_LE(sheet.spent().hidden_wire, world.clock);
}

TEST_F(Sheet, WhatWasSentBeforeItsLifeIsHiddenFromItsBeginOnly) {
  pass(100);
  sheet.begin();
  pass(10);
  sheet.arrives(Time{40});
  EXPECT_EQ(sheet.spent().hidden_wire, Time{10});
}

TEST_F(Sheet, AClockThatIsSetBackTakesNothingAway) {
  pass(100);
  sheet.job_offered(Activity::compute);
  world.clock = Time{40};
  sheet.job_done();
  pass(10);
  EXPECT_EQ(spent(Activity::compute), 0);
  EXPECT_EQ(spent(Activity::other), 110);
}

TEST_F(Sheet, StampsOutsideTheWaitAreMovedIntoIt) {
  pass(10);
  for (const Time stamp : {Time{-1000}, Time{1'000'000}}) {
    sheet.wait_begins(world.clock);
    pass(10);
    sheet.wait_ends(world.clock, 0, stamp);
  }
  EXPECT_EQ(spent(Activity::wire), 10);
  EXPECT_EQ(spent(Activity::late), 10);
}

TEST(Activities, HaveTheNamesThatFilesUse) {
  EXPECT_EQ(name_of(Activity::compute), "compute");
  EXPECT_EQ(name_of(Activity::other), "other");
}

}  // namespace
}  // namespace gv

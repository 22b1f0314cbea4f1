#include "gossip/seam/task.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "gossip/mail/mailbox.h"
#include "gossip/sums/links.h"

namespace gv {
namespace {

Task<int> answer() {
  co_return 42;
}
Task<int> add_one(Task<int> inner) {
  co_return 1 + co_await inner;
}
Task<> fail() {
  throw std::runtime_error("no");
  co_return;
}
Task<> catch_it(bool& caught) {
  try {
    co_await fail();
  } catch (const std::runtime_error&) {
    caught = true;
  }
}

TEST(Task, ReturnsValuesAndErrorsToItsAwaiter) {
  Task<int> sum = add_one(answer());
  EXPECT_FALSE(sum.done());
  sum.start();
  ASSERT_TRUE(sum.done());
  EXPECT_EQ(sum.result(), 43);
  bool caught = false;
  Task<> catching = catch_it(caught);
  catching.start();
  EXPECT_TRUE(caught);
  Task<> failing = fail();
  failing.start();
  EXPECT_THROW(failing.result(), std::runtime_error);
}

Message message(PeerId from, Round round) {
  return {.from = from, .kind = Kind::contribution, .number = round, .part = 0, .payload = {}};
}

TEST(Mailbox, MatchesMessagesWithAskersInEitherOrder) {
  Mailbox box;
  std::optional<Message> got;
  EXPECT_TRUE(box.deliver(message(1, 5)));
  EXPECT_FALSE(box.deliver(message(1, 5))) << "a duplicate";
  EXPECT_TRUE(box.take({1, Kind::contribution, 5, 0}, got));
  EXPECT_EQ(got->number, 5U);
  EXPECT_FALSE(box.take({1, Kind::contribution, 6, 0}, got));
  int calls = 0;
  box.wait({1, Kind::contribution, 6, 0}, Absence::away,
           [&](std::optional<Message> m) { calls += m.has_value(); });
  EXPECT_TRUE(box.deliver(message(1, 6)));
  EXPECT_EQ(calls, 1);
}

TEST(Mailbox, AClosedSenderAnswersWithNothing) {
  Mailbox box;
  std::optional<Message> got;
  int nothing = 0;
  box.wait({2, Kind::contribution, 7, 0}, Absence::gone,
           [&](std::optional<Message> m) { nothing += !m.has_value(); });
  box.deliver(message(2, 6));
  box.close(2, 7);
  EXPECT_EQ(nothing, 1);
  EXPECT_TRUE(box.take({2, Kind::contribution, 6, 0}, got));
  EXPECT_TRUE(got.has_value()) << "what came before the goodbye counts";
  EXPECT_TRUE(box.take({2, Kind::contribution, 8, 0}, got));
  EXPECT_FALSE(got.has_value());
}

TEST(Ring, ChunksCoverTheVector) {
  for (const std::size_t d : {1U, 2U, 7U, 8U, 100U}) {
    for (const PeerId n : {1U, 2U, 3U, 8U, 9U}) {
      std::size_t at = 0;
      for (PeerId c = 0; c < n; ++c) {
        EXPECT_EQ(ring_chunk(d, n, c).begin, at);
        at += ring_chunk(d, n, c).count;
      }
      EXPECT_EQ(at, d);
    }
  }
}

TEST(Registry, FindsAlgorithms) {
  EXPECT_EQ(find_algorithm("d-psgd", "")->order, "lian");
  EXPECT_EQ(find_algorithm("d-psgd", "atc")->order, "atc");
  EXPECT_EQ(find_algorithm("d-psgd", "nope"), nullptr);
}

}  // namespace
}  // namespace gv

#include "peer/wire/tcp/lent_thread.h"

#include <cfenv>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace gv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LentThread, AJobThatAsksForATurnEndsBehindIt) {
  HeldTurns turns;
  LentThread lent(turns);
  std::string order;
  lent.submit([&] { order += 'a'; }, [&] { order += 'A'; });
  lent.submit(
      [&] {
        order += 'b';
        turns.ask(Turn::gradient);
      },
      [&] { order += 'B'; });
  lent.submit([&] { order += 'c'; }, [&] { order += 'C'; });
  EXPECT_EQ(lent.lend(seconds(10)), Turn::gradient);
  EXPECT_EQ(order, "aAb");
  EXPECT_FALSE(lent.working());  // the program may take its time
  EXPECT_EQ(lent.lend(seconds(10)), Turn::gradient) << "the turn is at hand until it is done";
  turns.done({.loss = 2.5});
  EXPECT_EQ(order, "aAbB");
  EXPECT_EQ(turns.told().loss, 2.5);
  EXPECT_EQ(lent.lend(milliseconds(1)), Turn::none);
  EXPECT_EQ(order, "aAbBcC");
  EXPECT_EQ(lent.done(), 3U);
}

/// After a goodbye a program takes no turns, but the peer still settles its debts.
TEST(LentThread, BehindTheLastTurnJobsEndAtOnce) {
  HeldTurns turns;
  LentThread lent(turns);
  int ended = 0;
  const auto ask = [&] { turns.ask(Turn::step); };
  lent.submit(ask, [&] { ++ended; });
  EXPECT_EQ(lent.lend(seconds(10)), Turn::step);
  turns.close();
  EXPECT_EQ(ended, 1);
  lent.submit(ask, [&] { ++ended; });
  EXPECT_EQ(lent.lend(milliseconds(1)), Turn::none);
  EXPECT_EQ(ended, 2);
}

/// An evaluation of an earlier model must not be reported for the last one.
TEST(LentThread, NobodyEvaluatesBehindTheLastTurn) {
  for (const bool at_hand : {false, true}) {
    HeldTurns turns;
    LentThread lent(turns);
    turns.tell({.evaluation = Evaluation{.loss = 0.5, .accuracy = {}}});
    const auto ask = [&] { turns.ask(Turn::evaluate); };
    if (!at_hand) turns.close();
    lent.submit(ask, [] {});
    EXPECT_EQ(lent.lend(milliseconds(at_hand ? 10'000 : 1)), at_hand ? Turn::evaluate : Turn::none);
    if (at_hand) {
      EXPECT_TRUE(turns.told().evaluation);
      turns.close();
    }
    EXPECT_FALSE(turns.told().evaluation);
  }
}

TEST(LentThread, WhatWaitsAtTheEndIsDropped) {
  HeldTurns turns;
  LentThread lent(turns);
  bool ended = false;
  lent.submit([&] { turns.ask(Turn::gradient); }, [&] { ended = true; });
  EXPECT_EQ(lent.lend(seconds(10)), Turn::gradient);
  lent.submit([] {}, [&] { ended = true; });
  lent.end();
  turns.done({});
  EXPECT_EQ(lent.lend(seconds(10)), Turn::over);
  EXPECT_FALSE(ended);
}

TEST(LentThread, AnInterruptEndsAWaitAndNoJob) {
  HeldTurns turns;
  LentThread lent(turns);
  lent.interrupt();
  EXPECT_EQ(lent.lend(seconds(10)), Turn::none);
  bool ran = false;
  lent.submit([&] { ran = true; }, [] {});
  EXPECT_EQ(lent.lend(milliseconds(1)), Turn::none);
  EXPECT_TRUE(ran);
}

/// Flushes denormal results and operands to zero on this thread.
void flush_tiny() {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
  __builtin_aarch64_set_fpcr64(__builtin_aarch64_get_fpcr64() | std::uint64_t{1} << 24);
#else
#error "how does this processor flush what is tiny to zero?"
#endif
}

/// A program may round downwards or flush denormals to zero. Its peer must compute as all others
/// do, and must restore the program's mode.
TEST(LentThread, JobsRoundAsOursAndTheProgramAsBefore) {
  HeldTurns turns;
  LentThread lent(turns);
  std::fenv_t usual;
  std::fegetenv(&usual);
  flush_tiny();
  std::fesetround(FE_DOWNWARD);
  int rounding = -1;
  volatile float tiny = std::numeric_limits<float>::denorm_min();
  volatile float sum = 0;
  lent.submit(
      [&] {
        rounding = std::fegetround();
        sum = tiny + tiny;
      },
      [] {});
  lent.lend(milliseconds(1));
  const int after = std::fegetround();
  volatile float flushed = tiny + tiny;
  const float seen = flushed;
  std::fesetenv(&usual);
  EXPECT_EQ(rounding, FE_TONEAREST);
  EXPECT_EQ(after, FE_DOWNWARD);
  EXPECT_EQ(sum, 2 * std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(seen, 0);
}

TEST(LentThread, TakesJobsFromAnotherThread) {
  HeldTurns turns;
  LentThread lent(turns);
  constexpr int jobs = 2000;
  int sum = 0;  // counts jobs and turns, all on this thread
  int ended = 0;
  std::thread loop([&] {
    for (int k = 0; k < jobs; ++k) {
      const bool asks = k % 2 == 0;
      lent.submit(
          [&, asks] {
            ++sum;
            if (asks) turns.ask(Turn::gradient);
          },
          [&] { ++ended; });
    }
  });
  int taken = 0;
  while (lent.done() < jobs) {
    if (lent.lend(milliseconds(100)) != Turn::gradient) continue;
    ++sum;
    ++taken;
    turns.done({});
  }
  loop.join();
  EXPECT_EQ(taken, jobs / 2);
  EXPECT_EQ(sum, jobs + jobs / 2);
  if (turns.at_hand() != Turn::none) turns.done({});
  EXPECT_EQ(ended, jobs);
}

}  // namespace
}  // namespace gv

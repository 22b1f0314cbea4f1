#include <gtest/gtest.h>

#include "peer/runtime/ledger.h"

namespace gv {
namespace {

/// Ledgers of peers 0 and 1, whose processes are 10 and 11.
class Books : public testing::Test {
 protected:
  Books() { ledgers.here = {10, 11}; }

  void settle(PeerId at, std::uint64_t exchange, std::uint32_t part = 0) {
    LedgerEntry e;
    e.peer = at;
    e.incarnation = 10 + at;
    e.with = 1 - at;
    e.with_incarnation = 11 - at;
    e.exchange = {exchange};
    e.part = part;
    e.weight = 0.5F;
    e.ours = 100 * exchange + at;
    e.theirs = 100 * exchange + 1 - at;
    ledgers.entries.push_back(e);
  }
  void settle_both(std::uint64_t exchange, std::uint32_t part = 0) {
    settle(0, exchange, part);
    settle(1, exchange, part);
  }

  Ledgers ledgers;
};

TEST_F(Books, ThatAgreeAreFine) {
  settle_both(0);
  settle_both(1);
  const LedgerAudit result = audit(ledgers);
  EXPECT_EQ(result.both, 2U);
  EXPECT_TRUE(result.findings.empty());
}

/// A killed process may have sent its half and applied the other before its neighbour applies any.
/// Its own ledger then has more than the survivor's.
TEST_F(Books, TheDeadMayHaveAppliedWhatTheSurvivorHasNot) {
  settle_both(0);
  settle(0, 1);
  ledgers.dead = {10};
  const LedgerAudit result = audit(ledgers);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.one_sided, 1U);
}

TEST_F(Books, TheSurvivorMayHaveAppliedWhatTheDeadHasNot) {
  settle_both(0);
  settle(0, 1);
  ledgers.dead = {11};
  EXPECT_TRUE(audit(ledgers).findings.empty());
}

TEST_F(Books, OfTwoThatLivedToTheEndMustAgree) {
  settle_both(0);
  settle(0, 1);
  const LedgerAudit result = audit(ledgers);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(to_text(result.findings[0]),
            "peers 0 and 1: 1 piece applied at one end only; the first: exchange 1, piece 0, in "
            "the book of peer 0 (000000000000000a)");
}

/// One finding for each piece once filled the screen for a large model.
TEST_F(Books, AFindingOfManyPiecesIsOneLine) {
  settle_both(0);
  for (std::uint32_t part = 0; part < 193; ++part) settle(1, 1, part);
  const LedgerAudit result = audit(ledgers);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].pieces, 193U);
}

/// If no ledger of a host could be fetched, each piece of its neighbours was once a finding.
TEST_F(Books, OneThatIsNotHereIsNamedAndFindsNothing) {
  settle(0, 0);
  settle(0, 1);
  ledgers.here = {10};
  const LedgerAudit result = audit(ledgers);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.missing, std::set<PeerId>{1});
  EXPECT_EQ(result.unchecked, 2U);
  EXPECT_EQ(result.one_sided, 0U);
}

TEST_F(Books, WhatIsAppliedTwiceOrOutOfTurnIsFoundInTheBookOfTheDeadToo) {
  settle(0, 0);
  settle(0, 0);
  settle(0, 5);
  ledgers.dead = {10, 11};
  const LedgerAudit result = audit(ledgers);
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings[0].kind, "applied out of turn");
  EXPECT_EQ(result.findings[1].kind, "applied twice");
}

TEST_F(Books, TwoEndsThatUseDifferentWeightsAreFound) {
  settle_both(0);
  ledgers.entries.back().weight = 0.25F;
  const LedgerAudit result = audit(ledgers);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, "applied as flows that are not opposite");
}

}  // namespace
}  // namespace gv

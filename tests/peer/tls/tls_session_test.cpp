#include "peer/tls/tls_session.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "optim/rng.h"
#include "tests/peer/tls/talk.h"

namespace gv {
namespace {

const std::vector<PeerKeys>& fleet_keys() {
  static const std::vector<PeerKeys> keys = make_keys(3);
  return keys;
}

TEST(Tls, BothEndsKnowWhoTheOtherIs) {
  const auto& keys = fleet_keys();
  for (const std::size_t piece : {1U, 7U, 1000U, 1U << 20}) {
    TlsPair pair(keys[0], keys[2]);
    pair.shake(piece);
    ASSERT_TRUE(pair.secured()) << pair.dials.why() << pair.is_dialled.why();
    EXPECT_EQ(pair.dials.peer(), 2U);
    EXPECT_EQ(pair.is_dialled.peer(), 0U);
    EXPECT_EQ(pair.dials.channel().size(), 32U);
    EXPECT_EQ(pair.dials.channel(), pair.is_dialled.channel());
  }
}

TEST(Tls, NoTwoConnectionsHaveOneChannel) {
  std::set<std::string> channels;
  for (int i = 0; i < 20; ++i) {
    TlsPair pair(fleet_keys()[0], fleet_keys()[1]);
    pair.shake();
    channels.insert(pair.dials.channel());
  }
  EXPECT_EQ(channels.size(), 20U);
}

TEST(Tls, CarriesEverythingInWhateverPieces) {
  TlsPair pair(fleet_keys()[0], fleet_keys()[1]);
  pair.shake();
  ASSERT_TRUE(pair.secured());
  Rng rng(1);
  std::string sent, came;
  for (int i = 0; i < 60; ++i) {
    std::vector<std::string> texts;
    std::vector<std::span<const std::byte>> pieces;
    for (int k = 0; k < 5; ++k) {
      const std::size_t size = rng.below(k == 2 ? 100'000 : 200);
      texts.emplace_back(size, static_cast<char>(rng.below(256)));
    }
    for (const std::string& text : texts) {
      sent += text;
      pieces.push_back(bytes_of(text));
    }
    pair.dials.write(pieces);
    came += carry(pair.dials, pair.is_dialled, 1 + rng.below(50'000));
  }
  EXPECT_TRUE(came == sent);
}

/// A full record carries 16 KiB, whatever pieces the bytes came in.
TEST(Tls, RecordsAreAsFullAsCanBe) {
  TlsPair pair(fleet_keys()[0], fleet_keys()[1]);
  pair.shake();
  const std::string head(64, 'h'), body(16 * 1024 * 4 - 128, 'b'), fill(64, '\0');
  const std::vector<std::span<const std::byte>> pieces{
      bytes_of(head), bytes_of(body), bytes_of(fill)};
  pair.dials.write(pieces);
  constexpr std::size_t overhead = 5 + 1 + 16;  // RFC 8446, section 5.2
  EXPECT_EQ(pair.dials.take_output({}).size(), 4 * (16 * 1024 + overhead));
}

TEST(Tls, AFarewellIsHeardBehindWhatWasSaid) {
  const std::vector<PeerKeys> keys = make_keys(2);
  TlsPair pair(keys[0], keys[1]);
  pair.shake();
  ASSERT_TRUE(pair.secured());
  say(pair.dials, "before");
  pair.dials.say_farewell();
  EXPECT_FALSE(pair.is_dialled.ended());
  EXPECT_EQ(carry(pair.dials, pair.is_dialled), "before");
  EXPECT_TRUE(pair.is_dialled.ended());
  EXPECT_EQ(pair.is_dialled.state(), TlsSession::State::secured) << "and nothing is wrong with it";
  pair.dials.say_farewell();
  EXPECT_FALSE(pair.dials.has_output()) << "it is said once";
}

TEST(Tls, WhoHasOtherKeysIsRefusedByBothEnds) {
  const std::vector<PeerKeys> others = make_keys(3);
  TlsPair pair(fleet_keys()[0], others[1]);
  pair.shake();
  EXPECT_NE(pair.dials.why().find("of other keys"), std::string::npos) << pair.dials.why();
  EXPECT_FALSE(pair.secured());

  // The authority's certificate is public: who shows it with a key of other ones gains nothing.
  PeerKeys forged = others[0];
  forged.authority = fleet_keys()[0].authority;
  EXPECT_THROW(TlsContext{forged}, std::runtime_error);
}

/// A dialler that believes anybody is still refused.
TEST(Tls, TheDialledEndJudgesForItself) {
  PeerKeys trusting = make_keys(1).front();
  const std::vector<PeerKeys>& ours = fleet_keys();
  TlsPair pair(trusting, ours[1]);
  pair.shake();
  EXPECT_TRUE(pair.broken());
  EXPECT_NE(pair.is_dialled.state(), TlsSession::State::secured);
}

TEST(Tls, TheRightKeysOfTheWrongPeerAreRefused) {
  const auto only = [](PeerId wanted) {
    return [wanted](PeerId id) { return id == wanted ? "" : "peer " + std::to_string(id); };
  };
  TlsPair wrong_answer(fleet_keys()[0], fleet_keys()[2], only(1));
  wrong_answer.shake();
  EXPECT_EQ(wrong_answer.dials.why(), "peer 2");
  TlsPair wrong_caller(fleet_keys()[2], fleet_keys()[1], anybody, only(0));
  wrong_caller.shake();
  EXPECT_EQ(wrong_caller.is_dialled.why(), "peer 2");
  EXPECT_NE(wrong_caller.dials.why().find("refuses our certificate"), std::string::npos)
      << wrong_caller.dials.why();
}

TEST(Tls, KeysThatDoNotBelongTogetherAreNoneToBeginWith) {
  const std::vector<PeerKeys>& ours = fleet_keys();
  EXPECT_THROW(TlsContext({ours[0].key, ours[1].certificate, ours[0].authority}),
               std::runtime_error);
  EXPECT_THROW(TlsContext({ours[0].key, ours[0].certificate, make_keys(1)[0].authority}),
               std::runtime_error);
  EXPECT_THROW(TlsContext({"", ours[0].certificate, ours[0].authority}), std::runtime_error);
}

/// The dialling end's first flight, and everything it says later, with one bit flipped: never does
/// the other end come to believe it, and never does it read a byte of what was said.
TEST(Tls, NoFlippedBitIsBelieved) {
  for (int flight = 0; flight < 2; ++flight) {
    for (std::size_t bit = 0; bit < 8 * 2000; bit += 61) {
      TlsPair pair(fleet_keys()[0], fleet_keys()[1]);
      pair.dials.shake();
      if (flight == 1) {
        carry(pair.dials, pair.is_dialled);
        carry(pair.is_dialled, pair.dials);
        ASSERT_EQ(pair.dials.state(), TlsSession::State::secured);
        say(pair.dials, "nobody but our neighbour may read this");
      }
      SealedBytes said = pair.dials.take_output({});
      if (bit / 8 >= said.size()) break;
      said[bit / 8] ^= std::byte{1} << (bit % 8);
      std::ranges::copy(said, pair.is_dialled.space().begin());
      pair.is_dialled.filled(said.size());
      pair.is_dialled.shake();
      std::vector<std::byte> out(1000);
      const std::size_t read = pair.is_dialled.read(out);
      EXPECT_EQ(read, 0U) << "flight " << flight << ", bit " << bit;
      // A bit of the legacy version or of a list of which one is taken may be any; then the
      // transcripts differ, and the Finished does not fit.
      if (flight == 0) carry(pair.is_dialled, pair.dials);
      if (flight == 0) carry(pair.dials, pair.is_dialled);
      EXPECT_FALSE(flight == 0 && pair.secured()) << "bit " << bit;
    }
  }
}

/// Everything that one end heard in a session, heard again by a new one.
TEST(Tls, ARecordedSessionIsWorthNothing) {
  TlsPair pair(fleet_keys()[0], fleet_keys()[1]);
  pair.dials.shake();
  const SealedBytes first = pair.dials.take_output({});
  std::ranges::copy(first, pair.is_dialled.space().begin());
  pair.is_dialled.filled(first.size());
  pair.is_dialled.shake();
  carry(pair.is_dialled, pair.dials);
  say(pair.dials, "a Hello");
  const SealedBytes second = pair.dials.take_output({});
  for (int i = 0; i < 1000; ++i) {
    TlsSession again(
        std::make_shared<TlsContext>(fleet_keys()[1]), TlsSession::Role::is_dialled, anybody);
    for (const auto* flight : {&first, &second}) {
      std::ranges::copy(*flight, again.space().begin());
      again.filled(flight->size());
      again.shake();
    }
    ASSERT_EQ(again.state(), TlsSession::State::broken) << "replay " << i;
    std::vector<std::byte> out(100);
    ASSERT_EQ(again.read(out), 0U);
  }
}

TEST(Tls, WhatIsNoTlsIsSaidToBeNone) {
  for (const std::string text : {"GVN1 and so on, and so on", "GET / HTTP/1.1\r\n\r\n"}) {
    TlsSession session(
        std::make_shared<TlsContext>(fleet_keys()[1]), TlsSession::Role::is_dialled, anybody);
    std::ranges::copy(bytes_of(text), session.space().begin());
    session.filled(text.size());
    session.shake();
    EXPECT_EQ(session.state(), TlsSession::State::broken);
    EXPECT_NE(session.why().find("does not speak TLS"), std::string::npos) << session.why();
  }
}

TEST(Tls, RandomBytesNeverGetIn) {
  Rng rng(7);
  const auto context = std::make_shared<TlsContext>(fleet_keys()[1]);
  for (int i = 0; i < 300; ++i) {
    TlsSession session(context, TlsSession::Role::is_dialled, anybody);
    for (int k = 0; k < 20 && session.state() == TlsSession::State::shaking; ++k) {
      const std::size_t size = 1 + rng.below(500);
      std::span<std::byte> space = session.space();
      for (std::size_t b = 0; b < size; ++b) space[b] = static_cast<std::byte>(rng.below(256));
      if (k == 0) space[0] = std::byte{0x16};
      session.filled(size);
      session.shake();
    }
    EXPECT_NE(session.state(), TlsSession::State::secured);
  }
}

TEST(Tls, AnIdentityIsWrittenInOneWay) {
  const TlsIdentity identity{"0123456789abcdef0123456789abcdef", 7};
  EXPECT_EQ(parse_identity(to_string(identity)), identity);
  for (const char* wrong : {"",
                            "grapevine:0123456789abcdef0123456789abcdef/",
                            "grapevine:0123456789abcdef0123456789abcdef/07",
                            "grapevine:0123456789abcdef0123456789abcdef/+7",
                            "grapevine:0123456789abcdef0123456789abcdef/7 ",
                            "grapevine:0123456789abcdef0123456789abcdef/4294967296",
                            "grapevine:0123456789ABCDEF0123456789abcdef/7",
                            "grapevine:0123456789abcdef0123456789abcde/7",
                            "spiffe:0123456789abcdef0123456789abcdef/7"})
    EXPECT_FALSE(parse_identity(wrong)) << wrong;
}

}  // namespace
}  // namespace gv

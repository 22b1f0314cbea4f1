#include "gossip/peer.h"

#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

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
  EXPECT_FALSE(peer->deliver(model(3, 0, 0, filled(piece_floats, 0)))) << "no neighbour";
  EXPECT_FALSE(peer->deliver(model(1, 1, 1, filled(1, 0)))) << "not its first piece";
  make(piece_floats + 1);
  EXPECT_TRUE(peer->deliver(model(1, 1, 0, filled(piece_floats, 0))));
  EXPECT_FALSE(peer->deliver(model(1, 1, 0, filled(piece_floats, 0)))) << "twice";
  make(piece_floats + 1);
  EXPECT_TRUE(peer->deliver(model(1, 1, 0, filled(piece_floats, 0))));
  EXPECT_FALSE(peer->deliver(model(1, 2, 0, filled(piece_floats, 0)))) << "none answers the first";
}

TEST_F(OnePeer, LastWordsGoToEveryNeighbourAndToTheObserver) {
  make(1, 0);
  Task<> life = live(*peer, find_algorithm("d-psgd", "lian")->run);
  life.start();
  world.work();
  ASSERT_TRUE(life.done());
  ASSERT_EQ(world.sent.size(), 2U);
  for (const auto& [to, message] : world.sent) EXPECT_EQ(message.kind, Kind::goodbye);
  ASSERT_EQ(journal.reports.size(), 1U);
  EXPECT_TRUE(journal.reports[0].last);
}

}  // namespace
}  // namespace gv

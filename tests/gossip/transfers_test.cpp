#include "gossip/verbs/transfers.h"

#include <cstring>
#include <optional>

#include <gtest/gtest.h>

#include "tests/gossip/one_peer.h"

namespace gv {
namespace {

using Why = VerbEnd::Why;

/// Peer 0 of a ring of three, each with a program.
class TransfersOfOne : public OnePeer {
 protected:
  TransfersOfOne() {
    Plan plan = ring_plan();
    plan.verbs = VerbTree{.parent = 1, .children = {2}};
    make(1, plan);
  }
  static VerbCall call(PeerId with, std::size_t bytes, std::byte value = {}) {
    return {.op = VerbOp::transfer,
            .type = VerbType::bytes,
            .root = with,
            .data = std::vector<std::byte>(bytes, value)};
  }
  void push(const VerbCall& call) {
    peer->transfers().push(call, [this](VerbEnd end) { ends.push_back(std::move(end)); });
  }
  void pull(const VerbCall& call) {
    peer->transfers().pull(call, [this](VerbEnd end) { ends.push_back(std::move(end)); });
  }
  static VerbWord word(VerbStep step, std::size_t bytes) {
    return {.step = step, .op = VerbOp::transfer, .bytes = bytes};
  }
  bool hears(PeerId from,
             std::uint64_t number,
             std::uint32_t part,
             const VerbWord& word,
             std::size_t bytes,
             std::byte value = {}) {
    const auto payload = std::make_shared<Buffer>(verb_word_bytes + bytes);
    write(word, {payload->data(), payload->size()});
    std::memset(payload->data() + verb_word_bytes, std::to_integer<int>(value), bytes);
    return peer->deliver({from, Kind::verb, number, part, payload});
  }
  bool wants(PeerId from, std::uint64_t number, std::uint32_t part, std::size_t bytes) {
    return hears(from, number, part, word(VerbStep::want, bytes), 0);
  }
  std::vector<std::uint32_t> sent_parts(PeerId to, VerbStep step) const {
    std::vector<std::uint32_t> parts;
    for (const auto& [receiver, message] : world.sent) {
      if (receiver != to || message.kind != Kind::verb) continue;
      if (parse_verb({message.payload->data(), message.payload->size()})->step == step)
        parts.push_back(message.part);
    }
    return parts;
  }

  std::vector<VerbEnd> ends;
};

using Parts = std::vector<std::uint32_t>;

TEST_F(TransfersOfOne, NothingIsSentBeforeItIsAskedFor) {
  push(call(1, 5, std::byte{7}));
  EXPECT_TRUE(world.sent.empty());
  EXPECT_TRUE(wants(1, 0, 0, 5));
  ASSERT_EQ(world.sent.size(), 1U);
  const Buffer& payload = *world.sent.back().second.payload;
  ASSERT_EQ(payload.size(), verb_word_bytes + 5);
  EXPECT_EQ(payload.data()[verb_word_bytes + 4], std::byte{7});
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].why, Why::done);
}

TEST_F(TransfersOfOne, WhoAsksBeforeThereIsAPushGetsItThen) {
  EXPECT_TRUE(wants(2, 0, 0, 0));
  EXPECT_TRUE(world.sent.empty());
  push(call(2, 0));
  EXPECT_EQ(sent_parts(2, VerbStep::give), Parts{0});
  ASSERT_EQ(ends.size(), 1U);
}

TEST_F(TransfersOfOne, AFewPiecesAreAskedForAndTheNextOneWhenOneCame) {
  const std::size_t bytes = 9 * verb_piece_bytes + 1;
  pull(call(1, bytes));
  EXPECT_EQ(sent_parts(1, VerbStep::want), (Parts{0, 1, 2, 3}));
  const VerbWord given = word(VerbStep::give, bytes);
  for (std::uint32_t part = 0; part < 9; ++part)
    EXPECT_TRUE(hears(1, 0, part, given, verb_piece_bytes, std::byte(part)));
  EXPECT_EQ(sent_parts(1, VerbStep::want).size(), 10U);
  EXPECT_TRUE(ends.empty());
  EXPECT_TRUE(hears(1, 0, 9, given, 1, std::byte{9}));
  ASSERT_EQ(ends.size(), 1U);
  ASSERT_EQ(ends[0].data.size(), bytes);
  for (std::size_t k = 0; k < bytes; k += verb_piece_bytes)
    EXPECT_EQ(ends[0].data[k], std::byte(k / verb_piece_bytes));
}

TEST_F(TransfersOfOne, RefusesWhatWasNotAskedForAndWhatNobodyMayAsk) {
  EXPECT_FALSE(hears(1, 0, 0, word(VerbStep::give, 4), 4)) << "there is no pull";
  pull(call(1, 4));
  EXPECT_FALSE(hears(2, 0, 0, word(VerbStep::give, 4), 4)) << "from another one";
  EXPECT_FALSE(hears(1, 1, 0, word(VerbStep::give, 4), 4)) << "the next one";
  EXPECT_FALSE(hears(1, 0, 1, word(VerbStep::give, 4), 4)) << "there is one piece";
  EXPECT_FALSE(hears(1, 0, 0, word(VerbStep::give, 4), 3)) << "a part of it";
  EXPECT_FALSE(hears(1, 0, 0, word(VerbStep::give, 5), 4)) << "of another size";
  VerbWord up = word(VerbStep::up, 4);
  EXPECT_FALSE(hears(1, 0, 0, up, 4)) << "no step of a transfer";
  up.op = VerbOp::sum;
  up.step = VerbStep::give;
  EXPECT_FALSE(hears(1, 0, 0, up, 4)) << "no step of a sum";
  EXPECT_FALSE(wants(1, 1, 0, 4)) << "the next push";
  EXPECT_FALSE(wants(1, 0, 1, std::size_t{9} * verb_piece_bytes)) << "not the first piece";
  for (std::uint32_t part = 0; part < Transfers::window; ++part)
    EXPECT_TRUE(wants(1, 0, part, std::size_t{9} * verb_piece_bytes));
  EXPECT_FALSE(wants(1, 0, Transfers::window, std::size_t{9} * verb_piece_bytes)) << "too many";
  EXPECT_FALSE(wants(2, 0, 0, 4) && wants(2, 0, 1, 4)) << "beyond the end";
  EXPECT_FALSE(hears(2, 0, 0, word(VerbStep::want, 4), 4)) << "with a piece";
  EXPECT_TRUE(ends.empty());
}

TEST_F(TransfersOfOne, AnotherSizeFailsAtBothEndsAndTheNextOneGoesWell) {
  push(call(1, 5));
  push(call(1, 6));
  EXPECT_TRUE(wants(1, 0, 0, 4));
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].why, Why::disagrees);
  EXPECT_EQ(sent_parts(1, VerbStep::broken), Parts{0});
  EXPECT_TRUE(wants(1, 1, 0, 6));
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[1].why, Why::done);
  pull(call(2, 4));
  pull(call(2, 3));
  EXPECT_EQ(sent_parts(2, VerbStep::want).size(), 1U) << "one after the other";
  VerbWord broken = word(VerbStep::broken, 0);
  broken.why = Why::died;
  EXPECT_FALSE(hears(2, 0, 0, broken, 0)) << "deaths are seen, not told";
  broken.why = Why::disagrees;
  EXPECT_TRUE(hears(2, 0, 0, broken, 0));
  ASSERT_EQ(ends.size(), 3U);
  EXPECT_EQ(ends[2].why, Why::disagrees);
  EXPECT_TRUE(hears(2, 1, 0, word(VerbStep::give, 3), 3));
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_EQ(ends[3].why, Why::done);
}

TEST_F(TransfersOfOne, WhoIsGoneEndsWhatIsUnderWayWithIt) {
  push(call(1, 5));
  pull(call(1, 5));
  pull(call(2, 5));
  peer->died(1);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(ends[0].why, Why::died);
  EXPECT_EQ(ends[1].why, Why::died);
  push(call(1, 5));
  ASSERT_EQ(ends.size(), 3U) << "nobody waits for the dead";
  EXPECT_TRUE(peer->deliver({2, Kind::goodbye, 0, 1, nullptr}));
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_EQ(ends[3].why, Why::left);
}

TEST_F(TransfersOfOne, ASuccessorBeginsAnew) {
  push(call(1, 5));
  EXPECT_TRUE(wants(1, 0, 0, 5));
  push(call(1, 5));
  pull(call(1, 5));
  peer->replaced(1);
  ASSERT_EQ(ends.size(), 3U);
  EXPECT_EQ(ends[1].why, Why::again);
  EXPECT_EQ(ends[2].why, Why::again);
  push(call(1, 5));
  EXPECT_TRUE(wants(1, 0, 0, 5)) << "its first";
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_EQ(ends[3].why, Why::done);
}

TEST_F(TransfersOfOne, GoAlongLinks) {
  EXPECT_EQ(peer->transfers().objection(call(1, 5)), "");
  EXPECT_NE(peer->transfers().objection(call(0, 5)), "") << "itself";
  EXPECT_NE(peer->transfers().objection(call(3, 5)), "");
  VerbCall half = call(1, 5);
  half.type = VerbType::float32;
  EXPECT_NE(peer->transfers().objection(half), "") << "a float and a quarter";
  make(1, ring_plan());
  EXPECT_NE(peer->transfers().objection(call(1, 5)), "") << "there are no programs";
  EXPECT_FALSE(wants(1, 0, 0, 5));
}

}  // namespace
}  // namespace gv

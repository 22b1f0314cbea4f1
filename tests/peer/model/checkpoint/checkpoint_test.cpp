#include <gtest/gtest.h>

#include "peer/model/checkpoint/checkpoint_store.h"
#include "peer/sim/trial.h"

namespace gv {
namespace {

const std::string fleet = "0123456789abcdef0123456789abcdef";
const std::string model = "fedcba9876543210fedcba9876543210";

std::vector<std::byte> state(Round round, std::size_t bytes = 100) {
  std::vector<std::byte> values(bytes);
  for (std::size_t k = 0; k < bytes; ++k) values[k] = static_cast<std::byte>(k * 7 + round);
  return values;
}

Checkpoint example(std::size_t state_bytes = 100) {
  return {.fleet = fleet, .model = model, .peer = 3, .round = 12, .state = state(12, state_bytes)};
}

bool refused(std::span<const std::byte> bytes) {
  Checkpoint out;
  return !decode(bytes, out).empty();
}

TEST(Checkpoint, RoundTrips) {
  for (const std::size_t bytes : {0UL, 1UL, 4096UL, 100'000UL}) {
    const Checkpoint written = example(bytes);
    Checkpoint read;
    ASSERT_EQ(decode(encode(written), read), "");
    EXPECT_EQ(read.fleet, written.fleet);
    EXPECT_EQ(read.model, written.model);
    EXPECT_EQ(read.peer, written.peer);
    EXPECT_EQ(read.round, written.round);
    EXPECT_EQ(read.state, written.state);
  }
}

TEST(Checkpoint, EveryFlippedBitOfTheHeadIsRefused) {
  std::vector<std::byte> bytes = encode(example());
  const std::size_t before_state = bytes.size() - 100 - checkpoint_check_bytes;
  for (std::size_t k = 0; k < before_state * 8; ++k) {
    bytes[k / 8] ^= static_cast<std::byte>(1U << k % 8);
    EXPECT_TRUE(refused(bytes)) << "bit " << k;
    bytes[k / 8] ^= static_cast<std::byte>(1U << k % 8);
  }
  EXPECT_FALSE(refused(bytes));
}

TEST(Checkpoint, RandomFlippedBitsAreRefused) {
  std::vector<std::byte> bytes = encode(example(10'000));
  Rng rng(1);
  for (int trial = 0; trial < 10'000; ++trial) {
    const std::uint64_t bit = rng.below(bytes.size() * 8);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    ASSERT_TRUE(refused(bytes)) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
  }
  EXPECT_FALSE(refused(bytes));
}

TEST(Checkpoint, EveryTruncationAndProlongationIsRefused) {
  std::vector<std::byte> bytes = encode(example(5000));
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_TRUE(refused(std::span(bytes.data(), length))) << length;
  for (int more = 0; more < 20; ++more) {
    bytes.push_back(std::byte{0});
    EXPECT_TRUE(refused(bytes));
  }
}

TEST(Checkpoint, OfALaterFormatSaysSo) {
  std::vector<std::byte> bytes = encode(example());
  bytes[8] = std::byte{2};
  Checkpoint out;
  EXPECT_EQ(decode(bytes, out), "format version 2, ours is 1");
}

class Store : public testing::Test {
 protected:
  std::vector<std::string> names() {
    std::vector<std::string> found;
    EXPECT_EQ(disk_.list("c", found), "");
    return found;
  }

  void save_until(Round last, bool alone = false) {
    for (; next_ <= last; next_ += 10) ASSERT_EQ(store_.save(next_, state(next_), alone), "");
  }

  Round next_ = 10;
  SimDisk disk_;
  CheckpointStore store_{disk_, "c", fleet, model, 3, 2};
  std::vector<std::string> skipped_;
};

TEST_F(Store, KeepsTheNewest) {
  EXPECT_FALSE(store_.newest(skipped_));
  for (const Round round : {99'999'998U, 99'999'999U, 100'000'000U, 100'000'001U})
    ASSERT_EQ(store_.save(round, state(round)), "");
  EXPECT_EQ(names(), (std::vector<std::string>{"100000000.ckpt", "100000001.ckpt"}));
  EXPECT_EQ(store_.rounds(), (std::vector<Round>{100'000'000, 100'000'001}));
  const auto newest = store_.newest(skipped_);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->round, 100'000'001U);
  EXPECT_EQ(newest->state, state(100'000'001));
  EXPECT_TRUE(skipped_.empty());
}

/// Peers that trained without a lost one once removed the checkpoints that they shared with it, and
/// the run could not be resumed.
TEST_F(Store, WhatAllHaveStaysHoweverFarThisPeerGoes) {
  store_.hold(0, 1);
  save_until(60);
  EXPECT_EQ(store_.candidate(), 10U);
  EXPECT_EQ(store_.rounds(), (std::vector<Round>{10, 50, 60})) << "the first one may be held yet";
  store_.hold(10, 75);
  EXPECT_FALSE(store_.candidate());
  save_until(200);
  EXPECT_EQ(store_.candidate(), 80U);
  EXPECT_EQ(store_.rounds(), (std::vector<Round>{10, 80, 190, 200}));
  store_.hold(80, 300);
  EXPECT_EQ(store_.rounds(), (std::vector<Round>{80, 190, 200})) << "it goes at once";
  store_.hold(80, 200);
  save_until(210);
  EXPECT_EQ(store_.candidate(), 210U) << "another one is agreed upon where they differ";
}

TEST_F(Store, WhatWasSavedWhileSomebodyWasMissingIsNotHeld) {
  store_.hold(0, 1);
  save_until(20, true);
  EXPECT_FALSE(store_.candidate());
  save_until(30);
  EXPECT_EQ(store_.candidate(), 30U);
  EXPECT_EQ(store_.rounds(), (std::vector<Round>{20, 30}));
}

TEST_F(Store, FindsTheOneOfAStep) {
  ASSERT_EQ(store_.save(1, state(1)), "");
  ASSERT_EQ(store_.save(2, state(2)), "");
  Checkpoint found;
  EXPECT_EQ(store_.at(1, found), "");
  EXPECT_EQ(found.state, state(1));
  EXPECT_EQ(store_.at(3, found), "c/00000003.ckpt: No such file or directory");
}

TEST_F(Store, PassesOverTheDamaged) {
  ASSERT_EQ(store_.save(1, state(1)), "");
  ASSERT_EQ(store_.save(2, state(2)), "");
  std::vector<std::byte> bytes;
  ASSERT_EQ(disk_.read("c/00000002.ckpt", bytes), "");
  bytes[80] ^= std::byte{1};
  ASSERT_EQ(disk_.write("c/00000002.ckpt", bytes), "");
  ASSERT_EQ(disk_.write("c/00000003.ckpt", {}), "");
  EXPECT_EQ(store_.newest(skipped_)->round, 1U);
  EXPECT_EQ(skipped_,
            (std::vector<std::string>{"c/00000003.ckpt: truncated",
                                      "c/00000002.ckpt: damaged: its checksum does not agree"}));
  EXPECT_EQ(store_.rounds(), std::vector<Round>{1});
}

TEST_F(Store, PassesOverThoseOfOthers) {
  const std::string other(32, '7');
  ASSERT_EQ(store_.save(1, state(1)), "");
  ASSERT_EQ(CheckpointStore(disk_, "c", other, model, 3, 9).save(2, state(2)), "");
  ASSERT_EQ(CheckpointStore(disk_, "c", fleet, other, 3, 9).save(3, state(3)), "");
  ASSERT_EQ(CheckpointStore(disk_, "c", fleet, model, 4, 9).save(4, state(4)), "");
  std::vector<std::byte> bytes;
  ASSERT_EQ(disk_.read("c/00000001.ckpt", bytes), "");
  ASSERT_EQ(disk_.write("c/00000005.ckpt", bytes), "");
  EXPECT_EQ(store_.newest(skipped_)->round, 1U);
  EXPECT_EQ(skipped_, (std::vector<std::string>{
                          "c/00000005.ckpt: of round 1, not of the round in its name",
                          "c/00000004.ckpt: of peer 4, we are peer 3",
                          "c/00000003.ckpt: of model " + other + ", ours is " + model,
                          "c/00000002.ckpt: of fleet " + other + ", ours is " + fleet,
                      }));
}

TEST_F(Store, SweepsTheTemporaryFilesOfTheDead) {
  ASSERT_EQ(disk_.make_folder("c"), "");
  ASSERT_EQ(disk_.write("c/00000007.ckpt.tmp", state(7)), "");
  ASSERT_EQ(disk_.write("c/notes.tmp", state(7)), "");  // not ours
  ASSERT_EQ(store_.save(8, state(8)), "");
  EXPECT_EQ(names(), (std::vector<std::string>{"00000008.ckpt", "notes.tmp"}));
}

/// If only the highest numbers were kept, the checkpoint just saved would be removed.
TEST_F(Store, GoesOnFromAnOlderOne) {
  for (const Round round : {100U, 110U}) ASSERT_EQ(store_.save(round, state(round)), "");
  ASSERT_EQ(store_.save(60, state(60)), "");
  EXPECT_EQ(store_.rounds(), (std::vector<Round>{60, 100, 110}));
  ASSERT_EQ(store_.drop_after(60), "");
  disk_.crash(1);
  EXPECT_EQ(store_.rounds(), std::vector<Round>{60});
  EXPECT_EQ(CheckpointStore(disk_, "none", fleet, model, 3, 1).drop_after(5), "");
}

}  // namespace
}  // namespace gv

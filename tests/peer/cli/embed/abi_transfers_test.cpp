#include <array>
#include <atomic>

#include <gtest/gtest.h>

#include "tests/peer/cli/embed/abi_fleet.h"

// Pushes and pulls of programs through the C interface, over TCP.

namespace gv {
namespace {

gv_call with(PeerId other, const char* name = nullptr) {
  return {.size = sizeof(gv_call),
          .verb = 0,
          .type = GV_TYPE_FLOAT32,
          .root = other,
          .name = name,
          .lends = 1};
}

int wait(gv_peer* peer, std::uint64_t handle, std::vector<float>& data) {
  int code = GV_MORE;
  while (code == GV_MORE)
    code = gv_wait(peer, handle, data.data(), data.size() * sizeof(float), 50);
  return code;
}

int wait(gv_peer* peer, std::uint64_t handle) {
  std::vector<float> nothing;
  return wait(peer, handle, nothing);
}

std::uint64_t push(gv_peer* peer, const gv_call& call, const std::vector<float>& data) {
  std::uint64_t handle = 0;
  EXPECT_EQ(gv_push(peer, &call, data.data(), data.size() * sizeof(float), &handle), GV_OK)
      << gv_error(peer);
  return handle;
}

std::uint64_t pull(gv_peer* peer, const gv_call& call, std::size_t floats) {
  std::uint64_t handle = 0;
  EXPECT_EQ(gv_pull(peer, &call, floats * sizeof(float), &handle), GV_OK) << gv_error(peer);
  return handle;
}

class AbiTransfers : public testing::TestWithParam<QuadraticText> {};

/// Each peer hands a vector to the next in each gradient turn. This changes no bit of the model,
/// unless the method answers other peers during a turn.
TEST_P(AbiTransfers, GoFromEachToTheNextInEveryTurnAndTheTrainingIsTheSame) {
  for (const char* attach : {"", R"({"arithmetic": "own"})"}) {
    AbiFleet fleet(GetParam());
    fleet.attach = attach;
    std::array<int, 8> turns{};
    std::atomic<int> pulls = 0;
    const PeerId n = fleet.programs();
    fleet.before = [&](PeerId id, gv_peer* peer, int turn) {
      if (!is_of_gradient(turn)) return true;
      const int nth = turns.at(id)++;
      const PeerId next = (id + 1) % n, before = (id + n - 1) % n;
      const std::size_t floats = nth % 3 == 2 ? 200'000 : 5;
      std::vector<float> mine(floats, static_cast<float>(100 * nth + static_cast<int>(id)));
      const std::uint64_t pushed = push(peer, with(next, "x"), mine);
      std::ranges::fill(mine, -1.0F);  // it was copied
      std::vector<float> theirs(floats);
      const std::uint64_t pulled = pull(peer, with(before, "x"), floats);
      EXPECT_EQ(wait(peer, pulled, theirs), GV_OK) << gv_error(peer);
      EXPECT_EQ(wait(peer, pushed), GV_OK) << gv_error(peer);
      const auto expected = static_cast<float>(100 * nth + static_cast<int>(before));
      EXPECT_EQ(theirs, std::vector<float>(floats, expected));
      ++pulls;
      return true;
    };
    fleet.run();
    for (PeerId i = 0; i < n; ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
    EXPECT_GE(pulls, 6 * static_cast<int>(n));
    AbiFleet silent(GetParam());
    silent.attach = attach;
    silent.run();
    if (GetParam().kind != "ad-psgd") {
      EXPECT_EQ(fleet.params_hash(), silent.params_hash());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows,
                         AbiTransfers,
                         testing::Values(QuadraticText{},
                                         QuadraticText{.order = "atc", .local_steps = 2},
                                         QuadraticText{.kind = "all-reduce", .order = "ring"},
                                         QuadraticText{.kind = "ad-psgd", .rounds = 30},
                                         QuadraticText{.kind = "sgp", .topology = "exponential"}),
                         [](const auto& row) { return fmt::format("Row{}", row.index); });

TEST(AbiTransfersFail, ADeathIsToldToItsNeighboursAndTheyTrainOn) {
  AbiFleet fleet({.rounds = 12});
  std::array<int, 4> turns{};
  std::atomic<int> lost = 0;
  fleet.before = [&](PeerId id, gv_peer* peer, int turn) {
    if (turn != GV_TURN_GRADIENT || ++turns.at(id) < 4) return true;
    if (id == 2) return false;
    if (id == 0) return true;  // no neighbour of peer 2 on the ring
    std::vector<float> data(5);
    EXPECT_EQ(wait(peer, pull(peer, with(2), 5), data), GV_E_LOST);
    EXPECT_NE(std::string(gv_error(peer)).find("peer 2 has died: it neither pushes nor pulls"),
              std::string::npos)
        << gv_error(peer);
    EXPECT_EQ(wait(peer, push(peer, with(2), data)), GV_E_LOST);
    ++lost;
    return true;
  };
  fleet.run();
  EXPECT_EQ(lost, 2 * 9);
  for (const PeerId i : {0U, 1U, 3U}) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

TEST(AbiTransfersFail, WrongCallsAreErrorsAndHarmNothing) {
  AbiFleet fleet({.rounds = 3});
  fleet.before = [&](PeerId id, gv_peer* peer, int turn) {
    if (turn != GV_TURN_GRADIENT) return true;
    const PeerId next = (id + 1) % 4, before = (id + 3) % 4;
    std::uint64_t handle = 0;
    std::vector<float> data(4, static_cast<float>(id));
    const auto refused = [&](int code, const char* word) {
      EXPECT_EQ(code, GV_E_USE);
      EXPECT_NE(std::string(gv_error(peer)).find(word), std::string::npos) << gv_error(peer);
    };
    gv_call wrong = with((id + 2) % 4);
    refused(gv_push(peer, &wrong, data.data(), 16, &handle), "has no link with peer");
    refused(gv_pull(peer, &wrong, 16, &handle), "has no link with peer");
    wrong = with(next);
    refused(gv_push(peer, &wrong, data.data(), 15, &handle), "no whole number of elements");
    wrong.size = 4;
    refused(gv_pull(peer, &wrong, 16, &handle), "gv_call has 4 bytes");
    wrong = with(next);
    wrong.type = 9;
    refused(gv_pull(peer, &wrong, 16, &handle), "there is no type 9");
    refused(gv_push(peer, nullptr, data.data(), 16, &handle), "there is no call");
    refused(gv_push(peer, &wrong, data.data(), 16, nullptr), "no handle");
    refused(gv_wait(peer, 77777, data.data(), 16, -1), "77777 is no handle");
    const std::uint64_t named = push(peer, with(next, "weights"), data);
    const std::uint64_t misnamed = pull(peer, with(before, "gradients"), 4);
    refused(gv_wait(peer, misnamed, data.data(), 12, -1), "room for 12 bytes, and there are 16");
    EXPECT_EQ(wait(peer, misnamed, data), GV_E_DISAGREES);
    EXPECT_EQ(wait(peer, named), GV_E_DISAGREES);
    refused(gv_wait(peer, named, nullptr, 0, -1), "was waited for before");
    const std::uint64_t pushed = push(peer, with(next), data);
    std::vector<float> theirs(4);
    EXPECT_EQ(wait(peer, pull(peer, with(before), 4), theirs), GV_OK) << gv_error(peer);
    EXPECT_EQ(theirs, std::vector<float>(4, static_cast<float>(before)));
    EXPECT_EQ(wait(peer, pushed), GV_OK) << gv_error(peer);
    return true;
  };
  fleet.run();
  for (PeerId i = 0; i < 4; ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

/// A push that no peer pulls ends with the fleet.
TEST(AbiTransfersFail, WhatNobodyPullsHoldsNobodyUp) {
  AbiFleet fleet({.rounds = 3});
  std::atomic<int> refused = 0;
  fleet.before = [&](PeerId id, gv_peer* peer, int) {
    const gv_call call = with((id + 1) % 4);
    const std::array<float, 4> data{};
    std::uint64_t handle = 0;
    int code = GV_OK;
    for (int k = 0; k < 1500 && code == GV_OK; ++k)
      code = gv_push(peer, &call, data.data(), sizeof data, &handle);
    EXPECT_EQ(code, GV_E_USE);
    EXPECT_NE(std::string(gv_error(peer)).find("1024 are under way"), std::string::npos);
    ++refused;
    return true;
  };
  fleet.run();
  EXPECT_GE(refused, 12);
  for (PeerId i = 0; i < 4; ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

}  // namespace
}  // namespace gv

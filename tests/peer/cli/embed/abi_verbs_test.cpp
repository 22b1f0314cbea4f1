#include <array>
#include <atomic>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "tests/peer/cli/embed/abi_fleet.h"

// Verbs of programs through the C interface, over TCP, in the middle of their turns.

namespace gv {
namespace {

int call(gv_peer* peer, std::uint32_t verb, std::vector<float>& data, std::uint32_t lends = 1) {
  const gv_call asked{.size = sizeof(gv_call),
                      .verb = verb,
                      .type = GV_TYPE_FLOAT32,
                      .root = 0,
                      .name = "x",
                      .lends = lends};
  int code = GV_MORE;
  while (code == GV_MORE)
    code = gv_verb(peer, &asked, data.data(), data.size() * sizeof(float), 50);
  return code;
}

class AbiVerbs : public testing::TestWithParam<QuadraticText> {};

/// All peers compute a sum in each gradient turn. This changes no bit of the model, unless the
/// method answers other peers during a turn.
TEST_P(AbiVerbs, SumsInEveryTurnAreRightAndTheTrainingIsTheSame) {
  for (const char* attach : {"", R"({"arithmetic": "own"})"}) {
    AbiFleet fleet(GetParam());
    fleet.attach = attach;
    std::mutex mutex;
    std::set<std::vector<float>> sums;
    std::atomic<int> calls = 0;
    fleet.before = [&](PeerId id, gv_peer* peer, int turn) {
      if (!is_of_gradient(turn)) return true;
      std::vector<float> data(3, 0.1F * static_cast<float>(id + 1));
      EXPECT_EQ(call(peer, GV_VERB_SUM, data), GV_OK) << gv_error(peer);
      ++calls;
      const std::lock_guard lock(mutex);
      sums.insert(data);
      return true;
    };
    fleet.run();
    for (PeerId i = 0; i < fleet.programs(); ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
    EXPECT_EQ(sums.size(), 1U) << "the same bits everywhere and always";
    EXPECT_GE(calls, 6 * static_cast<int>(fleet.programs()));
    AbiFleet silent(GetParam());
    silent.attach = attach;
    silent.run();
    if (GetParam().kind != "ad-psgd") {
      EXPECT_EQ(fleet.params_hash(), silent.params_hash());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    AbiVerbs,
    testing::Values(QuadraticText{},
                    QuadraticText{.order = "atc", .local_steps = 2},
                    QuadraticText{.kind = "all-reduce", .order = "ring"},
                    QuadraticText{.kind = "all-reduce", .order = "driver"},
                    QuadraticText{.kind = "ad-psgd", .rounds = 30},
                    QuadraticText{.kind = "relay-sgd", .peers = 7, .topology = "binary-tree"},
                    QuadraticText{.kind = "parameter-server", .order = "sync"},
                    QuadraticText{.kind = "easgd, alpha: 0.2", .order = "sync"}),
    [](const auto& row) { return fmt::format("Row{}", row.index); });

/// A peer that waits in a verb still answers requests for an average. Otherwise neither peer could
/// continue, because there is no deadline here.
TEST(AbiVerbsBeside, APeerThatWaitsForOthersAnswersThem) {
  AbiFleet fleet({.kind = "ad-psgd",
                  .topology = "complete",
                  .rounds = 40,
                  .more = "faults: { deadline: 0 s }\n"});
  std::array<int, 4> turns{};
  fleet.before = [&](PeerId id, gv_peer* peer, int turn) {
    if (turn != GV_TURN_GRADIENT) return true;
    const int nth = turns.at(id)++;
    if (nth != static_cast<int>(10 * id)) return true;  // peer 3 comes thirty rounds later
    std::vector<float> data(1, 1);
    EXPECT_EQ(call(peer, GV_VERB_SUM, data), GV_OK) << gv_error(peer);
    EXPECT_EQ(data[0], 4);
    return true;
  };
  fleet.run();
  for (PeerId i = 0; i < 4; ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

TEST(AbiVerbsFail, ADeathIsToldToWhoWaitsForTheDeadAndTheyTrainOn) {
  AbiFleet fleet({.rounds = 12});
  std::array<int, 4> turns{};
  std::atomic<int> lost = 0;
  fleet.before = [&](PeerId id, gv_peer* peer, int turn) {
    if (turn != GV_TURN_GRADIENT || ++turns.at(id) < 4) return true;
    if (id == 2) return false;
    std::vector<float> data(5, 1);
    EXPECT_EQ(call(peer, GV_VERB_MEAN, data), GV_E_LOST);
    EXPECT_NE(std::string(gv_error(peer)).find("peer 2 has died"), std::string::npos)
        << gv_error(peer);
    ++lost;
    return true;
  };
  fleet.run();
  EXPECT_EQ(lost, 3 * 9);
  for (const PeerId i : {0U, 1U, 3U}) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

TEST(AbiVerbsFail, WrongCallsAreErrorsAndHarmNothing) {
  AbiFleet fleet({.rounds = 3});
  fleet.before = [&](PeerId, gv_peer* peer, int turn) {
    if (turn != GV_TURN_GRADIENT) return true;
    float data[2] = {1, 2};
    gv_call asked{.size = sizeof(gv_call),
                  .verb = GV_VERB_SUM,
                  .type = GV_TYPE_FLOAT32,
                  .root = 0,
                  .name = nullptr,
                  .lends = 1};
    const auto refused = [&](gv_call wrong, std::size_t bytes) {
      EXPECT_EQ(gv_verb(peer, &wrong, data, bytes, -1), GV_E_USE);
      EXPECT_NE(std::string(gv_error(peer)), "");
    };
    EXPECT_EQ(gv_verb(peer, nullptr, data, 8, -1), GV_E_USE);
    EXPECT_EQ(gv_verb(peer, &asked, nullptr, 8, -1), GV_E_USE);
    refused(asked, 7);
    gv_call wrong = asked;
    wrong.size = 8;
    refused(wrong, 8);
    wrong = asked;
    wrong.verb = 4;
    refused(wrong, 8);
    wrong = asked;
    wrong.type = GV_TYPE_BYTES;
    refused(wrong, 8);
    wrong = asked;
    wrong.verb = GV_VERB_MEAN;
    wrong.type = GV_TYPE_INT64;
    refused(wrong, 8);
    wrong = asked;
    wrong.verb = GV_VERB_BROADCAST;
    wrong.root = 4;
    refused(wrong, 8);
    wrong = asked;
    wrong.lends = 2;
    refused(wrong, 8);
    std::vector<float> right(2, 1);
    EXPECT_EQ(call(peer, GV_VERB_NEIGHBOR_AVERAGE, right, 0), GV_OK) << gv_error(peer);
    EXPECT_NEAR(right[0], 1, 1e-6);
    return true;
  };
  fleet.run();
  for (PeerId i = 0; i < 4; ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

TEST(AbiVerbsFail, WithoutLinksThereAreNone) {
  AbiFleet fleet({.kind = "isolated", .rounds = 2});
  fleet.before = [&](PeerId, gv_peer* peer, int) {
    std::vector<float> data(1, 1);
    EXPECT_EQ(call(peer, GV_VERB_SUM, data), GV_E_USE);
    EXPECT_NE(std::string(gv_error(peer)).find("have no links"), std::string::npos);
    return true;
  };
  fleet.run();
}

}  // namespace
}  // namespace gv

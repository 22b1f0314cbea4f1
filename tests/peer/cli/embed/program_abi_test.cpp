#include <atomic>
#include <set>

#include <gtest/gtest.h>

#include "gossip/algorithm.h"
#include "tests/peer/cli/embed/abi_fleet.h"
#include "tests/peer/sim/method_runs.h"
#include "tests/scratch_folder.h"

// Programs as peers through the C interface of libgrapevine.so, over TCP.

namespace gv {
namespace {

std::string hash_of_built_in(const QuadraticText& text) {
  return run(read_fleet_text(text.built_in())).hash;
}

std::string hash_of_programs(const QuadraticText& text, const std::string& attach = "") {
  AbiFleet fleet(text);
  fleet.attach = attach;
  fleet.run();
  for (PeerId i = 0; i < fleet.programs(); ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
  return fleet.params_hash();
}

class ProgramAbi : public testing::TestWithParam<QuadraticText> {};

TEST_P(ProgramAbi, EndsWithTheBitsOfBuiltInPeers) {
  EXPECT_EQ(hash_of_programs(GetParam()), hash_of_built_in(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    ProgramAbi,
    testing::Values(QuadraticText{},
                    QuadraticText{.order = "atc", .local_steps = 3},
                    QuadraticText{.peers = 5, .topology = "complete", .local_steps = 2},
                    QuadraticText{.kind = "all-reduce", .order = "ring"},
                    QuadraticText{.kind = "local-sgd", .peers = 3, .local_steps = 4},
                    QuadraticText{.kind = "gradient-tracking"},
                    QuadraticText{.kind = "quasi-global-momentum"},
                    QuadraticText{.kind = "slowmo", .local_steps = 2},
                    QuadraticText{.kind = "choco-sgd", .more = ""},
                    QuadraticText{.kind = "relay-sgd", .peers = 7, .topology = "binary-tree"},
                    QuadraticText{.kind = "parameter-server", .order = "sync"},
                    QuadraticText{.kind = "easgd, alpha: 0.2", .order = "sync"},
                    QuadraticText{.kind = "isolated"}),
    [](const auto& row) { return fmt::format("Row{}", row.index); });

/// The key `arithmetic: own` lets a thread of the library do the peer's work, on whichever thread a
/// turn ends.
TEST(ProgramAbiThreads, TheLibrarysOwnThreadComputesTheSame) {
  const QuadraticText text{.local_steps = 2};
  EXPECT_EQ(hash_of_programs(text, R"({"arithmetic": "own"})"), hash_of_built_in(text));
}

/// The library may have a turn ready before the program asks for it. The program's next call must
/// not end that turn; a program that polls makes such a call each time.
TEST(ProgramAbiThreads, NoTurnEndsThatTheProgramWasNotGiven) {
  const QuadraticText text{.kind = "all-reduce", .order = "ring", .rounds = 40};
  AbiFleet fleet(text);
  fleet.attach = R"({"arithmetic": "own"})";
  fleet.wait_ms = 0;
  fleet.run();
  for (PeerId i = 0; i < fleet.programs(); ++i) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
  EXPECT_EQ(fleet.params_hash(), hash_of_built_in(text));
}

/// A rate that comes with the gradient comes in time, on whichever thread the peer computes.
class ProgramAbiRate : public testing::TestWithParam<QuadraticText> {};

TEST_P(ProgramAbiRate, MayBeToldWithTheGradientAlone) {
  for (const char* attach : {"", R"({"arithmetic": "own"})"}) {
    AbiFleet fleet(GetParam());
    fleet.attach = attach;
    fleet.rate_is_told = RateIsTold::with_gradients;
    fleet.run();
    EXPECT_EQ(fleet.params_hash(), hash_of_built_in(GetParam())) << attach;
  }
}

/// Returns each method that needs the rate, with a rate that changes in each step.
std::vector<QuadraticText> methods_that_need_the_rate() {
  std::vector<QuadraticText> all;
  const auto add = [&](std::string_view kind, std::uint32_t local_steps) {
    all.push_back({.kind = std::string(kind),
                   .local_steps = local_steps,
                   .schedule = "{ kind: step, every: 1 step, factor: 0.8 }"});
  };
  for (const AlgorithmRow* row : algorithms())
    if (row->program.rate && row->program.objection.empty()) add(row->kind, 1);
  add("slowmo", 3);
  add("k-gt", 3);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Rows,
                         ProgramAbiRate,
                         testing::ValuesIn(methods_that_need_the_rate()),
                         [](const auto& row) { return fmt::format("Row{}", row.index); });

/// The peers also have turns to evaluate and to save, and resume from a checkpoint in the middle.
TEST(ProgramAbiState, GoesOnFromACheckpointAsIfItHadNotStopped) {
  const ScratchFolder scratch;
  const QuadraticText text{.rounds = 9, .more = "checkpoint: { every: 2 rounds, keep: 5 }\n"};
  const auto folder = [&](PeerId id) { return fmt::format("{}/{}", scratch.path(), id); };
  std::atomic<int> looked = 0, saved = 0;
  AbiFleet whole(text);
  whole.attach = R"({"evaluates": true, "saves": true})";
  whole.folder = folder;
  whole.before = [&](PeerId, gv_peer*, int turn) {
    if (turn == GV_TURN_EVALUATE) ++looked;
    if (turn == GV_TURN_SAVE) ++saved;
    return true;
  };
  whole.run();
  EXPECT_GE(looked, 8);  // round 5 and the end, for four peers
  EXPECT_GE(saved, 16);  // rounds 2, 4, 6 and 8
  AbiFleet rest(text);
  rest.attach = whole.attach;
  rest.folder = folder;
  rest.from = 4;
  rest.run();
  EXPECT_EQ(rest.params_hash(), whole.params_hash());
  EXPECT_EQ(rest.params_hash(), hash_of_built_in(text));
}

/// A peer that is closed in the middle of a turn counts as dead.
TEST(ProgramAbiDeath, TheOthersGoOnWithoutAPeerThatDies) {
  AbiFleet fleet({.rounds = 12});
  fleet.before = [](PeerId id, gv_peer* peer, int) {
    return id != 2 || abi_info(peer).find(R"("round":4)") == std::string::npos;
  };
  fleet.run();
  EXPECT_EQ(fleet.code(2), GV_TURN_GRADIENT);
  for (const PeerId i : {0U, 1U, 3U}) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

/// A peer that saw the death reports it. Peers to which it then said goodbye end normally.
TEST(ProgramAbiDeath, ADeathEndsAFleetThatAgrees) {
  AbiFleet fleet({.kind = "all-reduce", .rounds = 1'000'000});
  fleet.before = [](PeerId id, gv_peer* peer, int) {
    return id != 2 || abi_info(peer).find(R"("round":4)") == std::string::npos;
  };
  fleet.run();
  int saw = 0;
  for (const PeerId i : {0U, 1U, 3U}) {
    const bool lost = fleet.code(i) == GV_E_LOST;
    if (lost && fleet.error(i).find("peer 2 is lost") != std::string::npos) ++saw;
    EXPECT_TRUE(lost || fleet.code(i) == GV_OK) << fleet.error(i);
  }
  EXPECT_GE(saw, 1);
}

/// The peer can leave in any turn of a round. Its neighbours receive a goodbye and continue.
TEST(ProgramAbiEnd, APeerLeavesInOrder) {
  AbiFleet fleet({.rounds = 12});
  std::atomic<int> left = 0;
  fleet.before = [&](PeerId id, gv_peer* peer, int) {
    if (id != 1 || abi_info(peer).find(R"("round":3)") == std::string::npos) return true;
    EXPECT_EQ(gv_finish(peer, 20'000), GV_OK) << gv_error(peer);
    ++left;
    return false;
  };
  fleet.run();
  EXPECT_EQ(left, 1);
  for (const PeerId i : {0U, 2U, 3U}) EXPECT_EQ(fleet.code(i), GV_OK) << fleet.error(i);
}

/// The last round counts even if no turn follows the last step.
TEST(ProgramAbiEnd, TheLastRoundCountsWhenItIsOver) {
  for (const char* order : {"lian", "atc"}) {
    AbiFleet fleet({.order = order, .rounds = 6});
    std::atomic<int> whole = 0;
    fleet.at_over = [&](PeerId, gv_peer* peer) {
      if (abi_info(peer).find(R"("round":6,)") != std::string::npos) ++whole;
    };
    fleet.run();
    EXPECT_EQ(whole, 4) << order;
  }
}

TEST(ProgramAbiEnd, APeerStopsWhenItSaysSo) {
  AbiFleet fleet({.kind = "isolated", .peers = 1, .rounds = 1'000'000});
  fleet.before = [turns = 0](PeerId, gv_peer* peer, int) mutable {
    if (++turns == 5) gv_say(peer, R"({"stop": true})");
    return turns < 10;
  };
  fleet.run();
  EXPECT_EQ(fleet.code(0), GV_OK) << fleet.error(0);
}

/// Tensors of other shapes are another model, whose peers are refused.
TEST(ProgramAbiEnd, PeersOfOtherTensorsAreRefused) {
  const std::string text = QuadraticText{.peers = 2}.program();
  std::vector<float> x(6, 0.0F);
  const AbiHandle zero = abi_open(abi_words(text, 0)), one = abi_open(abi_words(text, 1));
  ASSERT_TRUE(zero && one) << gv_error(nullptr);
  const std::int64_t wide[] = {2, 3}, high[] = {3, 2};
  std::vector<float> y = x;
  const gv_tensor ours{"fc.weight", "float32", 2, wide, nullptr, x.data()};
  const gv_tensor theirs{"fc.weight", "float32", 2, high, nullptr, y.data()};
  const int here = gv_attach(zero.get(), &ours, 1, nullptr);
  const int there = gv_attach(one.get(), &theirs, 1, nullptr);
  ASSERT_GT(here, 0) << gv_error(nullptr);
  ASSERT_GT(there, 0) << gv_error(nullptr);
  const std::string all = fmt::format(R"([{{"peer": 0, "host": "127.0.0.1", "port": {}}},
                                          {{"peer": 1, "host": "127.0.0.1", "port": {}}}])",
                                      here, there);
  ASSERT_EQ(gv_begin(zero.get(), all.c_str()), GV_OK);
  ASSERT_EQ(gv_begin(one.get(), all.c_str()), GV_OK);
  int code = GV_TURN_NONE;
  while (code == GV_TURN_NONE) code = gv_turn(zero.get(), nullptr, 1000);
  EXPECT_EQ(code, GV_E_DISAGREES);
  EXPECT_NE(std::string(gv_error(zero.get())).find("model"), std::string::npos)
      << gv_error(zero.get());
}

}  // namespace
}  // namespace gv

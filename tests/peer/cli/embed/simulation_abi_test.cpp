#include <array>
#include <atomic>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/peer/cli/embed/abi_fleet.h"
#include "tests/peer/sim/method_runs.h"

// Programs as peers of a simulation, through the C interface. Each runs on a thread of its own.

namespace gv {
namespace {

struct CloseSimulation {
  void operator()(gv_simulation* simulation) const { gv_simulation_close(simulation); }
};
using Simulated = std::unique_ptr<gv_simulation, CloseSimulation>;

Simulated simulation_of(const std::string& fleet, const std::string& more = R"(, "step": 0.001)") {
  gv_simulation* simulation = nullptr;
  const std::string words =
      fmt::format(R"({{"text": {}, "log": "none"{}}})", Json(fleet).dump(), more);
  EXPECT_EQ(gv_simulate(words.c_str(), &simulation), GV_OK) << gv_error(nullptr);
  return Simulated(simulation);
}

std::string info_of(const Simulated& simulation) {
  std::string text(1 << 20, '\0');
  EXPECT_EQ(gv_simulation_info(simulation.get(), text.data(), text.size()), GV_OK);
  text.resize(text.find('\0'));
  return text;
}

/// Returns the text of the last member with this name.
std::string member(const std::string& json, const std::string& name) {
  const std::string key = "\"" + name + "\":";
  std::size_t begin = json.rfind(key);
  if (begin == std::string::npos) return "";
  begin = json.find_first_not_of(' ', begin + key.size());
  return json.substr(begin, json.find_first_of(",}", begin) - begin);
}

/// Programs that train as the built-in peers of `text` would.
class SimulatedPrograms {
 public:
  using Before = std::function<bool(PeerId id, gv_peer* peer, int turn)>;

  explicit SimulatedPrograms(const QuadraticText& text)
      : built_in_(read_fleet_text(text.built_in())), simulation_(simulation_of(text.program())) {}

  Before before{};
  int wait_ms = 5000;  ///< timeout of each gv_turn

  /// Waits within `before`, while other programs may work.
  int apart(const std::function<int()>& wait) {
    at_work_.fetch_sub(1);
    const int code = wait();
    EXPECT_EQ(at_work_.fetch_add(1), 0) << "another program is at work";
    return code;
  }

  /// Returns the final info of the simulation.
  std::string run() {
    std::vector<std::thread> threads;
    std::barrier attached(static_cast<std::ptrdiff_t>(built_in_.fleet.trainers()) + 1);
    threads.emplace_back([&] { be(0, R"({"task": "ask"})", attached); });
    for (PeerId i = 0; i < built_in_.fleet.trainers(); ++i)
      threads.emplace_back([&, i] { be(i, fmt::format(R"({{"id": {}}})", i), attached); });
    EXPECT_EQ(gv_simulation_wait(simulation_.get(), 0, 60'000), GV_OK);
    for (std::thread& thread : threads) thread.join();
    return info_of(simulation_);
  }

 private:
  void be(PeerId id, const std::string& words, std::barrier<>& attached) {
    InnerProgram program(built_in_.host_replica(id));
    gv_peer* opened = nullptr;
    EXPECT_EQ(gv_simulated(simulation_.get(), words.c_str(), &opened), GV_OK) << gv_error(nullptr);
    const AbiHandle peer(opened);
    const AbiTensors x(program.x());
    const char* const attach = R"({"evaluates": true})";
    EXPECT_EQ(gv_attach(opened, x.all().data(), x.all().size(), attach), GV_OK);
    attached.arrive_and_wait();
    EXPECT_EQ(gv_begin(opened, nullptr), GV_OK) << gv_error(opened);
    const auto hook = [&](int turn) {
      EXPECT_EQ(at_work_.fetch_add(1), 0) << "another program is at work";
      const bool goes_on = !before || before(id, opened, turn);
      at_work_.fetch_sub(1);
      return goes_on;
    };
    const int code = abi_train(opened, program, hook, RateIsTold::always, wait_ms);
    EXPECT_GE(code, 0) << gv_error(opened);
    EXPECT_EQ(gv_finish(opened, 60'000), GV_OK) << gv_error(opened);
  }

  Assembly built_in_;
  Simulated simulation_;
  std::atomic<int> at_work_ = 0;
};

class SimulatedAbi : public testing::TestWithParam<QuadraticText> {};

TEST_P(SimulatedAbi, EndsWithTheBitsOfBuiltInPeers) {
  const std::string info = SimulatedPrograms(GetParam()).run();
  const std::string hash = run(read_fleet_text(GetParam().built_in())).hash;
  EXPECT_EQ(member(info, "params_hash"), "\"" + hash + "\"") << info;
  EXPECT_NE(info.find(R"("round":5)"), std::string::npos) << info;
  EXPECT_NE(member(info, "loss"), "null")
      << "the program that is asked says what the mean is worth";
}

INSTANTIATE_TEST_SUITE_P(Rows,
                         SimulatedAbi,
                         testing::Values(QuadraticText{},
                                         QuadraticText{.order = "atc", .local_steps = 3},
                                         QuadraticText{.kind = "all-reduce", .order = "ring"},
                                         QuadraticText{.kind = "gradient-tracking"},
                                         QuadraticText{.kind = "slowmo", .local_steps = 2},
                                         QuadraticText{.kind = "parameter-server",
                                                       .order = "sync"}),
                         [](const auto& row) { return fmt::format("Row{}", row.index); });

gv_call call_of(std::uint32_t verb, PeerId root = 0) {
  return {.size = sizeof(gv_call),
          .verb = verb,
          .type = GV_TYPE_FLOAT32,
          .root = root,
          .name = nullptr,
          .lends = 1};
}

/// Adds up vectors in each gradient turn, and hands one from each peer to the next. Returns the
/// final info of the simulation.
std::string run_with_verbs(const QuadraticText& text) {
  SimulatedPrograms programs(text);
  std::set<std::vector<float>> sums;
  std::array<int, 8> turns{};
  programs.before = [&](PeerId id, gv_peer* peer, int turn) {
    if (!is_of_gradient(turn)) return true;
    std::vector<float> data(150'000, 0.1F * static_cast<float>(id + 1));
    const std::size_t bytes = data.size() * sizeof(float);
    const gv_call sum = call_of(GV_VERB_SUM);
    const auto add_up = [&] { return gv_verb(peer, &sum, data.data(), bytes, -1); };
    EXPECT_EQ(programs.apart(add_up), GV_OK) << gv_error(peer);
    sums.insert(data);
    const int nth = turns.at(id)++;
    std::vector<float> mine(3, static_cast<float>(10 * nth + static_cast<int>(id)));
    const gv_call to = call_of(0, (id + 1) % text.peers);
    const gv_call from = call_of(0, (id + text.peers - 1) % text.peers);
    std::uint64_t pushed = 0, pulled = 0;
    if (text.kind == "parameter-server") {  // its workers have links with servers alone
      EXPECT_EQ(gv_push(peer, &to, mine.data(), 12, &pushed), GV_E_USE);
      return true;
    }
    EXPECT_EQ(gv_push(peer, &to, mine.data(), 12, &pushed), GV_OK) << gv_error(peer);
    EXPECT_EQ(gv_pull(peer, &from, 12, &pulled), GV_OK) << gv_error(peer);
    std::vector<float> theirs(3);
    const auto wait = [&] { return gv_wait(peer, pulled, theirs.data(), 12, -1); };
    EXPECT_EQ(programs.apart(wait), GV_OK) << gv_error(peer);
    EXPECT_EQ(programs.apart([&] { return gv_wait(peer, pushed, nullptr, 0, -1); }), GV_OK);
    const int before =
        (static_cast<int>(id) + static_cast<int>(text.peers) - 1) % static_cast<int>(text.peers);
    EXPECT_EQ(theirs[2], static_cast<float>(10 * nth + before));
    return true;
  };
  std::string info = programs.run();
  EXPECT_EQ(sums.size(), 1U) << "the same bits everywhere and always";
  EXPECT_GE(turns[0], static_cast<int>(text.rounds));
  return info;
}

TEST_P(SimulatedAbi, DoesTogetherWhatChangesNoBitOfTheTraining) {
  const std::string hash = run(read_fleet_text(GetParam().built_in())).hash;
  const std::string info = run_with_verbs(GetParam());
  EXPECT_EQ(member(info, "params_hash"), "\"" + hash + "\"") << info;
}

/// The simulator gives a turn while the program is between two calls. The next call must not end
/// that turn.
TEST(SimulatedPrograms, EndNoTurnThatTheyWereNotGiven) {
  const QuadraticText text{.kind = "all-reduce", .order = "ring", .rounds = 40};
  SimulatedPrograms programs(text);
  programs.wait_ms = 0;
  const std::string hash = run(read_fleet_text(text.built_in())).hash;
  EXPECT_EQ(member(programs.run(), "params_hash"), fmt::format("\"{}\"", hash));
}

TEST(SimulatedPrograms, RepeatWhatTheyDoTogetherToTheBit) {
  const QuadraticText text{.kind = "ad-psgd", .rounds = 20};
  EXPECT_EQ(run_with_verbs(text), run_with_verbs(text));
}

TEST(SimulatedPrograms, AreToldWhoIsMissingInWhatAllDo) {
  SimulatedPrograms programs(QuadraticText{.rounds = 30});
  std::array<int, 4> turns{};
  std::atomic<int> lost = 0;
  programs.before = [&](PeerId id, gv_peer* peer, int turn) {
    if (turn != GV_TURN_GRADIENT || ++turns.at(id) < 4) return true;
    if (id == 2) return false;
    float data = 1;
    const gv_call sum = call_of(GV_VERB_SUM);
    EXPECT_EQ(programs.apart([&] { return gv_verb(peer, &sum, &data, 4, -1); }), GV_E_LOST);
    EXPECT_NE(std::string(gv_error(peer)).find("peer 2 has left"), std::string::npos)
        << gv_error(peer);
    ++lost;
    return true;
  };
  programs.run();
  EXPECT_EQ(lost, 3 * 27);
}

TEST(SimulatedPrograms, RepeatToTheBitWhereNobodyWaits) {
  const QuadraticText text{.kind = "ad-psgd", .rounds = 40};
  EXPECT_EQ(SimulatedPrograms(text).run(), SimulatedPrograms(text).run());
}

TEST(SimulatedPrograms, LeaveWhenTheyWantAndOthersGoOn) {
  SimulatedPrograms programs(QuadraticText{.rounds = 30});
  std::array<int, 4> gradients{};
  programs.before = [&](PeerId id, gv_peer*, int turn) {
    if (turn == GV_TURN_GRADIENT) ++gradients[id];
    return id != 2 || gradients[2] < 5;
  };
  const std::string info = programs.run();
  EXPECT_EQ(gradients[2], 5);
  EXPECT_EQ(gradients[0], 30);
  EXPECT_NE(member(info, "params_hash"), "") << info;
}

TEST(SimulatedPrograms, StopAfterTheRoundInWhichOneSaysSo) {
  SimulatedPrograms programs(QuadraticText{.rounds = 1000});
  std::array<int, 4> gradients{};
  programs.before = [&](PeerId id, gv_peer* peer, int turn) {
    if (turn == GV_TURN_GRADIENT) ++gradients[id];
    const int code = gradients[id] == 3 ? gv_say(peer, R"({"stop": true})") : GV_OK;
    EXPECT_EQ(code, GV_OK) << gv_error(peer);
    return true;
  };
  EXPECT_NE(member(programs.run(), "params_hash"), "");
  for (const int count : gradients) EXPECT_EQ(count, 3);
}

TEST(SimulatedPrograms, AreOverWhenOneOfThemDies) {
  const QuadraticText text{.peers = 2, .topology = "complete", .rounds = 1000};
  const Assembly built_in(read_fleet_text(text.built_in()));
  const Simulated simulation = simulation_of(text.program());
  const auto be = [&](PeerId id) {
    InnerProgram program(built_in.host_replica(id));
    gv_peer* peer = nullptr;
    const std::string words = fmt::format(R"({{"id": {}}})", id);
    EXPECT_EQ(gv_simulated(simulation.get(), words.c_str(), &peer), GV_OK);
    const AbiTensors x(program.x());
    EXPECT_EQ(gv_attach(peer, x.all().data(), x.all().size(), nullptr), GV_OK);
    EXPECT_EQ(gv_begin(peer, nullptr), GV_OK);
    int gradients = 0;
    abi_train(peer, program, [&](int) { return id == 0 || ++gradients < 7; });
    gv_close(peer);
  };
  std::thread other(be, 0);
  be(1);
  other.join();
  EXPECT_EQ(gv_simulation_wait(simulation.get(), 0, 60'000), GV_OK);
}

TEST(SimulatedPrograms, TellHowLongAStepTakesAndWhichTensorsAreNotTheFleets) {
  const QuadraticText text{};
  const Simulated simulation = simulation_of(text.program(), "");
  EXPECT_EQ(member(info_of(simulation), "step"), "null");
  InnerProgram program(Assembly(read_fleet_text(text.built_in())).host_replica(0));
  const AbiTensors x(program.x());
  gv_peer* peer = nullptr;
  ASSERT_EQ(gv_simulated(simulation.get(), R"({"task": "measure"})", &peer), GV_OK);
  EXPECT_EQ(gv_attach(peer, x.all().data(), x.all().size(), nullptr), GV_OK);
  EXPECT_EQ(gv_begin(peer, nullptr), GV_OK);
  EXPECT_EQ(abi_train(peer, program), GV_TURN_OVER);
  gv_close(peer);
  EXPECT_GT(std::stod(member(info_of(simulation), "step")), 0);

  gv_peer* first = nullptr;
  gv_peer* second = nullptr;
  ASSERT_EQ(gv_simulated(simulation.get(), R"({"id": 0})", &first), GV_OK);
  ASSERT_EQ(gv_simulated(simulation.get(), R"({"id": 1})", &second), GV_OK);
  EXPECT_EQ(gv_attach(first, x.all().data(), x.all().size(), nullptr), GV_OK);
  EXPECT_EQ(gv_attach(second, x.all().data(), 1, nullptr), GV_E_DISAGREES);
  EXPECT_NE(std::string(gv_error(second)).find("tensors"), std::string::npos) << gv_error(second);
  gv_close(second);
  gv_close(first);
}

}  // namespace
}  // namespace gv

#include "peer/record/runs/stored_run.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "graph/formats/npy_matrix.h"
#include "optim/printable.h"
#include "optim/rng.h"
#include "peer/record/report/metrics.h"
#include "peer/record/runs/groups.h"
#include "peer/record/runs/peer_totals.h"
#include "tests/peer/record/runs/run_folders.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

void replace_in(const std::string& path, const std::string& from, const std::string& to) {
  std::string text = text_of(path);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from << " in " << text;
  text.replace(at, from.size(), to);
  std::ofstream(path) << text;
}

std::string refusal(const std::string& folder) {
  try {
    read_stored_run(folder);
  } catch (const UnusableRun& e) {
    return e.what();
  }
  return "";
}

TEST(StoredRun, IsWhatTheFolderSays) {
  const ScratchFolder scratch;
  FolderOfRun{.seed = 7}.write(scratch.path());
  const StoredRun run = read_stored_run(scratch.path());
  EXPECT_TRUE(run.simulated);
  EXPECT_EQ(run.seed, 7U);
  EXPECT_EQ(run.peers, 4U);
  EXPECT_EQ(run.keys.at("topology.kind"), "ring");
  ASSERT_EQ(run.evaluations.size(), 10U);
  EXPECT_EQ(run.evaluations[2].round, 30U);
  EXPECT_DOUBLE_EQ(run.evaluations[2].seconds, 3.0);
  EXPECT_DOUBLE_EQ(*run.evaluations[2].accuracy, 0.3);
  EXPECT_FALSE(run.evaluations[2].states);
  EXPECT_FALSE(run.evaluations[2].training_seconds);
  EXPECT_EQ(run.rounds, 100U);
}

TEST(StoredRun, TakesWhatIsRecordedBesides) {
  const ScratchFolder scratch;
  FolderOfRun{}.write(scratch.path());
  replace_in(scratch.path() + "/metrics.jsonl", R"("round":20,)",
             R"("round":20,"training_seconds":1.5,"samples":640,"epoch":0.5,"hidden_wire":0.25,)"
             R"("states":{"compute":4,"wire":2},)");
  const MetricsRow e = read_stored_run(scratch.path()).evaluations[1];
  EXPECT_EQ(e.training_seconds, 1.5);
  EXPECT_EQ(e.samples, 640);
  EXPECT_EQ(e.hidden_wire, 0.25);
  ASSERT_TRUE(e.states);
  EXPECT_EQ((*e.states)[0], 4);
  EXPECT_EQ((*e.states)[4], 2);
  EXPECT_EQ((*e.states)[3], 0);
}

TEST(StoredRun, OfAgentsKnowsTheirFrames) {
  const ScratchFolder scratch;
  FolderOfRun{.agents = true}.write(scratch.path());
  const StoredRun run = read_stored_run(scratch.path());
  EXPECT_EQ(run.evaluations[2].frames, 240);
  EXPECT_EQ(along(run.evaluations[2], CurveAxis::frames), 240);
  EXPECT_EQ(shown(run.evaluations[2], CurveFigure::mean_return), 150);
  EXPECT_EQ(shown(run.evaluations[2], CurveFigure::local_return), 75);
  FolderOfRun{}.write(scratch.path());
  EXPECT_FALSE(shown(read_stored_run(scratch.path()).evaluations[2], CurveFigure::mean_return));
}

TEST(StoredRun, KnowsWhatActorsAndMemoriesDid) {
  const ScratchFolder scratch;
  FolderOfRun{.agents = true}.write(scratch.path());
  EXPECT_FALSE(read_stored_run(scratch.path()).evaluations[2].actors);
  replace_in(scratch.path() + "/metrics.jsonl", R"("frames":240)",
             R"("frames":240,"samples_per_insert":null,"memory":900,"actors":8)");
  const MetricsRow warming = read_stored_run(scratch.path()).evaluations[2];
  EXPECT_FALSE(warming.samples_per_insert) << "before the end of the warm-up";
  EXPECT_EQ(warming.memory, 900);
  EXPECT_EQ(warming.actors, 8);
  replace_in(scratch.path() + "/metrics.jsonl", "null,\"memory\"", "15.5,\"memory\"");
  EXPECT_EQ(read_stored_run(scratch.path()).evaluations[2].samples_per_insert, 15.5);
}

/// Its exit code is also that of a simulation that broke a rule, which has no target.
TEST(StoredRun, ThatMissedItsTargetIsAResult) {
  const ScratchFolder scratch;
  FolderOfRun{}.write(scratch.path());
  replace_in(scratch.path() + "/summary.json", "\"exit_code\":0",
             "\"exit_code\":4,\"target\":{\"accuracy\":0.9,\"reached\":false}");
  EXPECT_EQ(read_stored_run(scratch.path()).rounds, 100U);
}

/// A run that diverged is a result, whose figures are not finite.
TEST(StoredRun, OfALossThatIsNotFiniteIsAResult) {
  const ScratchFolder scratch;
  FolderOfRun{}.write(scratch.path());
  replace_in(scratch.path() + "/summary.json", R"("exit_code":0)", R"("exit_code":1)");
  replace_in(scratch.path() + "/metrics.jsonl", R"("loss":1,)", R"("loss":null,)");
  const StoredRun run = read_stored_run(scratch.path());
  EXPECT_TRUE(std::isnan(run.evaluations.front().loss));
}

struct Damage {
  const char* name;
  std::function<void(const std::string&)> to;
  const char* said;
};

class DamagedRun : public testing::TestWithParam<Damage> {};

TEST_P(DamagedRun, IsNamedWithItsReason) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/run";
  FolderOfRun{}.write(folder);
  GetParam().to(folder);
  const std::string said = refusal(folder);
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
  EXPECT_TRUE(said.starts_with(folder)) << said;
}

std::function<void(const std::string&)> in_file(const char* file,
                                                const char* from,
                                                const char* to) {
  return [=](const std::string& folder) { replace_in(folder + "/" + file, from, to); };
}

INSTANTIATE_TEST_SUITE_P(
    All,
    DamagedRun,
    testing::Values(
        Damage{"no_run_json", [](const std::string& f) { fs::remove(f + "/run.json"); },
               "run.json: not there: this is not the folder of a run"},
        Damage{"no_summary", [](const std::string& f) { fs::remove(f + "/summary.json"); },
               "the run has not ended"},
        Damage{"no_metrics", [](const std::string& f) { fs::remove(f + "/metrics.jsonl"); },
               "metrics.jsonl: cannot be opened"},
        Damage{"another_version", in_file("run.json", "run/2", "run/1"), "grapevine.run/1"},
        Damage{"no_json", in_file("run.json", "{", "["), "run.json:"},
        Damage{"no_seed", in_file("run.json", "\"seed\": 1,", ""), "there is no `seed`"},
        Damage{"negative_seed", in_file("run.json", "\"seed\": 1,", "\"seed\": -1,"), "`seed`"},
        Damage{"a_new_kind", in_file("run.json", "\"simulate\"", "\"dream\""), "`kind`"},
        Damage{"no_peers", in_file("run.json", "\"peers\": 4", "\"peers\": 0"), "`peers`"},
        Damage{"keys_in_a_list", in_file("run.json", "\"keys\": {", "\"keys\": [], \"old\": {"),
               "no object of texts"},
        Damage{"resumed", in_file("run.json", "\"kind\"", "\"resumed\": {}, \"kind\""),
               "the rest of another run"},
        Damage{"interrupted", in_file("summary.json", "\"exit_code\":0", "\"exit_code\":130"),
               "interrupted"},
        Damage{"failed", in_file("summary.json", "\"exit_code\":0", "\"exit_code\":4"),
               "exit code 4"},
        Damage{"half_a_line", in_file("metrics.jsonl", "\"loss_local\":1,", "\"loss_local\":1\n"),
               "metrics.jsonl:1: the line is damaged, or half written"},
        Damage{"rounds_that_go_back", in_file("metrics.jsonl", "\"round\":30", "\"round\":20"),
               "metrics.jsonl:3: the rounds go back"},
        Damage{"a_clock_that_goes_back",
               in_file("metrics.jsonl", "\"seconds\":3", "\"seconds\":0.5"),
               "metrics.jsonl:3: seconds or bytes go back"},
        Damage{"an_accuracy_of_two", in_file("metrics.jsonl", "\"accuracy\":0.1", "\"accuracy\":2"),
               "`accuracy` is not in 0 .. 1"},
        Damage{"negative_bytes",
               in_file("metrics.jsonl", "\"sent_bytes\":10000", "\"sent_bytes\":-1"),
               "`sent_bytes`"},
        Damage{"seconds_as_text", in_file("metrics.jsonl", "\"seconds\":1", "\"seconds\":\"1\""),
               "`seconds` is not a number"},
        Damage{"seconds_null", in_file("metrics.jsonl", "\"seconds\":1,", "\"seconds\":null,"),
               "is not a number"},
        Damage{"too_large_a_number",
               in_file("metrics.jsonl", "\"seconds\":1,", "\"seconds\":1e99,"), "`seconds`"}),
    [](const auto& test) { return std::string(test.param.name); });

/// Text from the files is printed without control characters.
TEST(StoredRun, SaysNothingThatIsNotPrintable) {
  const ScratchFolder scratch;
  FolderOfRun{}.write(scratch.path());
  replace_in(scratch.path() + "/run.json", "grapevine.run/2", "\\u001b[2Jx");
  const std::string said = refusal(scratch.path());
  EXPECT_EQ(said.find('\033'), std::string::npos);
  EXPECT_NE(said.find("?[2Jx"), std::string::npos) << said;
}

/// A file may hold any bytes. The run is read, or it is named with a printable reason.
TEST(StoredRun, WithAnyBytesChangedIsReadOrRefused) {
  const ScratchFolder scratch;
  const std::string good = scratch.path() + "/good";
  FolderOfRun{.rounds = 40}.write(good);
  Rng rng(11);
  int refused = 0;
  for (int draw = 0; draw < 300; ++draw) {
    const std::string bad = scratch.path() + "/bad";
    fs::remove_all(bad);
    fs::copy(good, bad);
    constexpr const char* names[] = {"run.json", "metrics.jsonl", "summary.json"};
    const std::string file = bad + "/" + names[rng.below(3)];
    std::string text = text_of(file);
    for (std::uint64_t k = rng.below(4); k < 4; ++k)
      text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    if (rng.below(4) == 0) text.resize(rng.below(text.size()));
    std::ofstream(file, std::ios::binary) << text;
    const std::string said = refusal(bad);
    refused += said.empty() ? 0 : 1;
    EXPECT_TRUE(is_printable(said)) << said;
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 300);
}

TEST(PeerTotals, AreReadWhereTheyAre) {
  const ScratchFolder scratch;
  FolderOfRun{}.write(scratch.path());
  for (int peer = 0; peer < 4; ++peer) {
    const std::string folder = fmt::format("{}/peers/{:03}", scratch.path(), peer);
    fs::create_directories(folder);
    std::ofstream(folder + "/totals.json") << fmt::format(
        R"({{"schema":"grapevine.totals/1","peer":{},"seconds":9,)"
        R"("states":{{"compute":5,"late":4}},)"
        R"("neighbours":{{"2":{{"late":3,"wire":1,"longest_wait":0.5,"exchanges":7}}}},)"
        R"("cpu_seconds":2.5,"peak_memory_bytes":{},"staleness":[5,1]}})",
        peer, 1000 + peer);
  }
  const std::vector<PeerTotals> totals = read_peer_totals(scratch.path());
  ASSERT_EQ(totals.size(), 4U);
  EXPECT_EQ(totals[3].peer, 3U);
  EXPECT_EQ(totals[3].states[3], 4);
  EXPECT_EQ(totals[0].neighbours.at(2).longest_wait, 0.5);
  EXPECT_EQ(totals[0].staleness, (std::vector<double>{5, 1}));
  const StoredRun run = read_stored_run(scratch.path());
  EXPECT_EQ(run.cpu_seconds, 10);
  EXPECT_EQ(run.peak_memory, 1003);
  replace_in(scratch.path() + "/peers/002/totals.json", "totals/1", "totals/9");
  EXPECT_NE(refusal(scratch.path()).find("grapevine.totals/9"), std::string::npos);
}

TEST(PeerRows, AreOfAllLives) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/peers/001";
  fs::create_directories(folder);
  const auto write = [&](const std::string& name, std::size_t rows, std::size_t columns) {
    NpyMatrix m{.rows = rows, .columns = columns, .single_precision = false, .values = {}};
    for (std::size_t i = 0; i < rows * columns; ++i)
      m.values.push_back(static_cast<double>(i % columns));
    std::ofstream(folder + "/" + name, std::ios::binary) << npy_bytes(m);
  };
  write("rounds.0.npy", 2, 15);
  write("rounds.1.npy", 3, 15);
  const auto rounds = read_peer_rounds(scratch.path(), 1);
  ASSERT_EQ(rounds.size(), 5U);
  EXPECT_EQ(rounds[4].states[0], 3);
  EXPECT_EQ(rounds[4].hidden_wire, 11);
  EXPECT_EQ(rounds[4].queue, 14);
  EXPECT_TRUE(read_peer_rounds(scratch.path(), 0).empty());
  write("moments.0.npy", 1, 5);  // 0 1 2 3 4
  const auto moments = read_peer_moments(scratch.path(), 1);
  ASSERT_EQ(moments.size(), 1U);
  EXPECT_EQ(moments[0].state, 1U);
  EXPECT_EQ(moments[0].with, 4U);
  write("moments.1.npy", 1, 4);
  EXPECT_THROW(read_peer_moments(scratch.path(), 1), UnusableRun);
  std::ofstream(folder + "/rounds.1.npy") << "no matrix";
  EXPECT_THROW(read_peer_rounds(scratch.path(), 1), UnusableRun);
}

TEST(RunList, LeavesOutWhatCannotBeUsedAndWhatOnlyTuned) {
  const ScratchFolder scratch;
  const std::string sweep = scratch.path() + "/sweep";
  for (int k = 0; k < 4; ++k)
    FolderOfRun{.seed = static_cast<std::uint64_t>(k)}.write(fmt::format("{}/trials/{}", sweep, k));
  fs::remove(sweep + "/trials/1/summary.json");
  std::ofstream(sweep + "/trials/2/trial.json") << R"({"stage":"tune"})";
  std::ofstream(sweep + "/trials/3/trial.json")
      << R"({"stage":"measure","values":{"network":"wifi"}})";
  std::ofstream(sweep + "/plan.json") << R"({"name":"rivals","target":"loss=0.3"})";
  const RunList list =
      read_runs({sweep, sweep + "/trials/0/", sweep + "/trials/../trials/0"}, [](auto, auto) {});
  ASSERT_EQ(list.runs.size(), 2U);
  EXPECT_EQ(list.runs[0].path, sweep + "/trials/0");
  EXPECT_EQ(list.runs[1].labels.at("network"), "wifi");
  EXPECT_EQ(list.runs[1].sweep, "rivals");
  EXPECT_EQ(list.runs[1].sweep_target, "loss=0.3");
  ASSERT_EQ(list.left_out.size(), 1U);
  EXPECT_NE(list.left_out[0].find("trials/1/summary.json"), std::string::npos);
  EXPECT_EQ(read_runs({sweep + "/trials"}, [](auto, auto) {}).runs.size(), 2U);
  EXPECT_THROW(read_runs({scratch.path() + "/none"}, [](auto, auto) {}), std::invalid_argument);
}

}  // namespace
}  // namespace gv

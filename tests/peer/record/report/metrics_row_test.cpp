#include <fstream>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/record/report/metrics.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

class Metrics : public testing::Test {
 protected:
  std::vector<MetricsRow> read(const std::string& text) {
    std::ofstream(path_, std::ios::trunc) << text;
    return read_metrics(path_);
  }
  /// Returns the error of a text, or "".
  std::string complaint(const std::string& text) {
    try {
      read(text);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  }

  ScratchFolder scratch_;
  std::string path_ = scratch_.path() + "/metrics.jsonl";
};

FleetRecord record(Round round) {
  FleetRecord r;
  r.round = round;
  r.peers = 4;
  r.time = std::chrono::milliseconds(1500);
  r.mean = {.loss = 0.25, .accuracy = 0.9};
  r.train_loss = 0.5;
  r.loss_local = 0.3;
  r.accuracy_min = 0.8;
  r.accuracy_max = 0.95;
  r.consensus = 0.01;
  r.costs.sent_bytes = 12'000'000'000ULL;
  r.costs.spent[Activity::compute] = std::chrono::milliseconds(1500);
  r.training_time = std::chrono::milliseconds(250);
  return r;
}

TEST_F(Metrics, WhatARunWritesIsReadBack) {
  const auto rows = read(evaluate_line(record(10)) + "\n" + evaluate_line(record(20)) + "\n" +
                         R"({"event":"summary","rounds":20})" + "\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(json_of(rows[0]).dump(), json_of(row_of(record(10))).dump());
  EXPECT_EQ(rows[1].round, 20U);
  EXPECT_EQ(rows[1].sent_bytes, 12'000'000'000ULL);
  ASSERT_TRUE(rows[1].states);
  EXPECT_EQ((*rows[1].states)[0], 1.5);
  EXPECT_EQ(rows[1].training_seconds, 0.25);
}

/// A figure that only the writer or only the reader knows would be lost silently.
TEST_F(Metrics, EveryFigureIsReadAsItWasWritten) {
  MetricsRow row{.round = 10, .peers = 4};
  double next = 1;
  for (const RunFigure& figure : figures()) {
    const double value = figure.range == FigureRange::fraction ? next++ / 100 : next++;
    if (const auto* const required = std::get_if<RunFigure::Required>(&figure.value))
      row.** required = value;
    if (const auto* const optional = std::get_if<RunFigure::Optional>(&figure.value))
      row.** optional = value;
  }
  const std::string line = json_of(row).dump();
  const MetricsRow back = parse_row(parse_json(line, "a line"));
  for (const RunFigure& figure : figures())
    EXPECT_EQ(figure.of(back), figure.of(row)) << figure.key << " in " << line;
}

TEST_F(Metrics, NoTwoFiguresHaveOneName) {
  for (const auto name : {&RunFigure::key, &RunFigure::tag, &RunFigure::metric}) {
    std::set<std::string_view> names;
    for (const RunFigure& figure : figures())
      EXPECT_TRUE((figure.*name).empty() || names.insert(figure.*name).second) << figure.*name;
  }
}

TEST_F(Metrics, AFigureThatCannotBeIsRefusedByItsKey) {
  for (const RunFigure& figure : figures()) {
    if (std::holds_alternative<RunFigure::Derived>(figure.value)) continue;
    std::string line = evaluate_line(record(10));
    const std::string key = fmt::format("\"{}\":", figure.key);
    const std::size_t at = line.find(key);
    if (at == std::string::npos) {
      line.insert(line.size() - 1, "," + key + "1e301");
    } else {
      const std::size_t from = at + key.size();
      line.replace(from, line.find_first_of(",}", from) - from, "1e301");
    }
    EXPECT_NE(complaint(line + "\n").find(fmt::format(":1: `{}` is not", figure.key)),
              std::string::npos)
        << line << ": " << complaint(line + "\n");
  }
}

TEST_F(Metrics, ReturnsOfAgentsAreMinusTheirLosses) {
  FleetRecord agents = record(10);
  agents.mean = {.loss = -475, .accuracy = {}};
  agents.loss_local = -450;
  agents.frames = 4000;
  const auto rows = read(evaluate_line(agents) + "\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].frames, 4000);
  const std::string json = json_of(rows[0]).dump();
  EXPECT_NE(json.find("\"return\":475"), std::string::npos) << json;
  EXPECT_NE(json.find("\"return_local\":450"), std::string::npos) << json;
  EXPECT_EQ(json_of(row_of(record(10))).dump().find("return"), std::string::npos);
}

/// During the warm-up no transition is learnt from, so there is no ratio.
TEST_F(Metrics, WhatActorsAndMemoriesDidIsReadBack) {
  FleetRecord agents = record(10);
  agents.frames = 4000;
  agents.experience = ExperienceFigures{.frames = 4000, .kept = 900, .actors = 8};
  FleetRecord later = agents;
  later.round = 20;
  later.experience = {.frames = 9000, .taken = 100, .learnt = 1650, .kept = 2000, .actors = 7};
  const auto rows = read(evaluate_line(agents) + "\n" + evaluate_line(later) + "\n" +
                         evaluate_line(record(30)) + "\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(rows[0].samples_per_insert);
  EXPECT_EQ(rows[0].memory, 900);
  EXPECT_EQ(rows[0].actors, 8);
  EXPECT_EQ(rows[1].samples_per_insert, 16.5);
  EXPECT_EQ(rows[1].memory, 2000);
  EXPECT_EQ(rows[1].actors, 7);
  EXPECT_FALSE(rows[2].actors);
  EXPECT_EQ(json_of(rows[1]).dump(), json_of(row_of(later)).dump());
  EXPECT_NE(json_of(rows[1]).dump().find("\"samples_per_insert\":16.5"), std::string::npos);
}

TEST_F(Metrics, WhatOnlyNewerRunsRecordIsReadWhereItIs) {
  const auto rows =
      read(R"({"event":"evaluate","round":5,"seconds":2,"peers":2,"train_loss":null,"loss":1,)"
           R"("loss_local":1,"accuracy":null,"consensus":0,"training_seconds":1.5,"samples":640,)"
           R"("epoch":0.1,"states":{"compute":1,"mix":2,"code":3,"late":4,"wire":5,"evaluate":6,)"
           R"("checkpoint":7,"other":8},"bytes":{"model":1,"other":2,"repeated":0}})"
           "\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].training_seconds, 1.5);
  EXPECT_EQ(rows[0].samples, 640);
  ASSERT_TRUE(rows[0].states);
  EXPECT_EQ((*rows[0].states)[4], 5) << "wire";
  EXPECT_FALSE(rows[0].accuracy);
}

TEST_F(Metrics, WhatAResumedRunDidAgainCountsOnce) {
  std::string text;
  for (const Round round : {10, 20, 30}) text += evaluate_line(record(round)) + "\n";
  FleetRecord again = record(20);
  again.mean.loss = 7;
  text += R"({"event":"summary"})"
          "\n" +
          evaluate_line(again) + "\n";
  const auto rows = read(text);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].round, 10U);
  EXPECT_EQ(rows[1].loss, 7);
}

TEST_F(Metrics, DamageIsNamedAndAnUnfinishedLastLineIsNone) {
  const std::string line = evaluate_line(record(10)) + "\n";
  EXPECT_EQ(read(line + line.substr(0, 40)).size(), 1U) << "killed as it wrote";
  EXPECT_NE(complaint(line + line.substr(0, 40) + "\n").find("metrics.jsonl:2: "),
            std::string::npos);
  EXPECT_NE(complaint(R"({"event":"evaluate","round":-1})"
                      "\n")
                .find(":1: `round`"),
            std::string::npos);
  EXPECT_NE(complaint(std::string(1U << 21, 'x')).find("a line of over 1 MiB"), std::string::npos);
  EXPECT_THROW(read_metrics(scratch_.path() + "/none"), std::runtime_error);
}

TEST(ThinOut, KeepsTheNewest) {
  std::vector<MetricsRow> rows;
  for (Round round = 1; round <= 9; ++round) rows.push_back({.round = round});
  thin_out(rows, 8);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows.front().round, 1U);
  EXPECT_EQ(rows.back().round, 9U);
  thin_out(rows, 5);
  EXPECT_EQ(rows.size(), 5U);
}

}  // namespace
}  // namespace gv

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "optim/unknown_figure.h"
#include "peer/record/observer.h"
#include "peer/record/report/metrics.h"
#include "peer/record/report/screen.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

using Json = nlohmann::json;

std::unique_ptr<Objective> parabola() {
  QuadraticSpec spec;
  spec.dimension = 2;
  return make_quadratic(spec, 0, 1, Rng(1));
}

Report report(PeerId peer, Round round, std::vector<float> x, bool last = false) {
  const auto model = std::make_shared<Buffer>(x.size() * sizeof(float));
  std::ranges::copy(x, model->floats().begin());
  return {.peer = peer,
          .round = round,
          .last = last,
          .train_loss = static_cast<double>(peer),
          .evaluation = {1, 0.5 + 0.1 * peer},
          .model = model,
          .costs = {.sent_bytes = 100}};
}

TEST(Observer, LooksAtTheFleetWhenTheLastReportOfARoundHasCome) {
  std::vector<FleetRecord> records;
  Observer observer(2, parabola(), [&](const FleetRecord& r) { records.push_back(r); });
  observer.take(report(0, 10, {1, 0}), Time{1});
  EXPECT_TRUE(records.empty());
  observer.take(report(0, 20, {9, 9}), Time{2});
  observer.take(report(1, 10, {3, 4}), Time{3});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].round, 10U);
  EXPECT_EQ(records[0].time, Time{3});
  EXPECT_DOUBLE_EQ(records[0].mean.loss, 0.5 * (2 * 2 + 2 * 2));  // at the mean (2, 2)
  EXPECT_DOUBLE_EQ(records[0].consensus, 5);                      // both at distance sqrt(5)
  EXPECT_DOUBLE_EQ(records[0].train_loss, 0.5);
  EXPECT_EQ(records[0].costs.sent_bytes, 200U);
  EXPECT_DOUBLE_EQ(records[0].accuracy_min.value(), 0.5);
  EXPECT_DOUBLE_EQ(records[0].accuracy_max.value(), 0.6);
}

/// A peer without a minibatch since the last evaluation once counted as one with a loss of 0.
TEST(Observer, TheTrainingLossIsTheMeanOfThoseThatHaveOne) {
  std::vector<FleetRecord> records;
  Observer observer(3, parabola(), [&](const FleetRecord& r) { records.push_back(r); });
  const auto all_report = [&](Round round, std::vector<double> losses) {
    for (PeerId i = 0; i < 3; ++i) {
      Report each = report(i, round, {1, 0});
      each.train_loss = losses[i];
      observer.take(std::move(each), Time{1});
    }
  };
  all_report(10, {2.0, unknown_figure(), 1.0});
  all_report(20, {unknown_figure(), unknown_figure(), unknown_figure()});
  all_report(30, {1.0, std::numeric_limits<double>::infinity(), unknown_figure()});
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].train_loss, 1.5);
  EXPECT_TRUE(is_unknown(records[1].train_loss));
  EXPECT_TRUE(std::isinf(records[2].train_loss)) << "what has diverged is no gap";
  EXPECT_EQ(Json::parse(evaluate_line(records[0])).at("train_loss"), 1.5);
  EXPECT_FALSE(Json::parse(evaluate_line(records[1])).contains("train_loss"));
  EXPECT_TRUE(Json::parse(evaluate_line(records[2])).at("train_loss").is_null());
  EXPECT_EQ(table_row(records[1], nullptr).size(), table_header(nullptr).size());
  EXPECT_EQ(table_row(records[1], nullptr).find(" 0 "), std::string::npos)
      << table_row(records[1], nullptr);
}

TEST(Observer, DoesNotWaitForTheLost) {
  Observer observer(3, parabola(), {});
  observer.take(report(0, 5, {1, 1}, true), Time{1});
  observer.take(report(2, 7, {3, 3}, true), Time{1});
  EXPECT_FALSE(observer.summary());
  observer.forget(1);
  ASSERT_TRUE(observer.summary());
  EXPECT_EQ(observer.summary()->peers, 2U);
  EXPECT_EQ(observer.summary()->round, 7U);
  EXPECT_EQ(observer.mean_model(), (std::vector<float>{2, 2}));
}

TEST(Observer, TheHashSeesEveryReplicaAndTheirOrder) {
  const auto hash = [](std::vector<float> a, std::vector<float> b) {
    Observer observer(2, parabola(), {});
    observer.take(report(1, 1, b, true), Time{0});
    observer.take(report(0, 1, a, true), Time{0});
    return observer.params_hash();
  };
  EXPECT_EQ(hash({1, 2}, {3, 4}), hash({1, 2}, {3, 4}));
  EXPECT_NE(hash({1, 2}, {3, 4}), hash({3, 4}, {1, 2}));
  EXPECT_NE(hash({1, 2}, {3, 4}), hash({1, 2}, {3, std::nextafter(4.0F, 5.0F)}));
  EXPECT_EQ(hash({1, 2}, {3, 4}).size(), 32U);
}

TEST(Observer, TheModelsHashSeesTheMeanAlone) {
  const auto hash = [](std::vector<float> a, std::vector<float> b) {
    Observer observer(2, parabola(), {});
    observer.take(report(0, 1, a, true), Time{0});
    observer.take(report(1, 1, b, true), Time{0});
    return observer.hashes().model;
  };
  EXPECT_EQ(hash({1, 2}, {3, 4}), hash({3, 4}, {1, 2}));
  EXPECT_EQ(hash({1, 2}, {3, 4}), hash({2, 3}, {2, 3}));
  EXPECT_NE(hash({1, 2}, {3, 4}), hash({1, 2}, {3, 5}));
  EXPECT_EQ(hash({1, 2}, {3, 4}).size(), 32U);
}

TEST(Metrics, LinesAreJsonWhateverTheFigures) {
  FleetRecord record;
  record.round = 3;
  record.peers = record.told = 2;
  record.mean.loss = unknown_figure();
  EXPECT_EQ(table_row(record, nullptr).find("nan"), std::string::npos) << "nobody evaluates";
  record.mean.loss = 0.5;
  record.mean.loss = std::numeric_limits<double>::quiet_NaN();
  record.train_loss = std::numeric_limits<double>::infinity();
  const Json evaluate = Json::parse(evaluate_line(record));
  EXPECT_EQ(evaluate.at("event"), "evaluate");
  EXPECT_TRUE(evaluate.at("loss").is_null());
  EXPECT_TRUE(evaluate.at("accuracy").is_null());
  const Json summary = Json::parse(summary_json(record, 1, 2.5, {"abc", "def"}).dump());
  for (const char* key :
       {"event", "rounds", "peers", "lost", "loss", "accuracy", "accuracy_min", "accuracy_max",
        "consensus", "seconds", "sent_bytes", "params_hash", "model_hash"})
    EXPECT_TRUE(summary.contains(key)) << key;
  EXPECT_EQ(summary.at("params_hash"), "abc");
  EXPECT_EQ(summary.at("model_hash"), "def");
  EXPECT_EQ(summary.at("lost"), 1);
}

TEST(Screen, LinesAreCutBetweenCharacters) {
  EXPECT_EQ(columns_of("a▁b"), 3U);
  EXPECT_EQ(cut_to_columns("a▁b", 3), "a▁b");
  EXPECT_EQ(cut_to_columns("a▁b", 2), "a▁");
  EXPECT_EQ(cut_to_columns("a▁b", 1), "a");
  EXPECT_EQ(cut_to_columns("", 0), "");
}

TEST(Screen, TextsForPeople) {
  EXPECT_EQ(bytes_text(812), "812 B");
  EXPECT_EQ(bytes_text(1'630'000), "1.63 MB");
  EXPECT_EQ(seconds_text(0.0371), "37.1 ms");
  EXPECT_EQ(seconds_text(0.99949), "999 ms");
  EXPECT_EQ(seconds_text(0.9996), "1.0 s") << "once 1e+03 ms";
  EXPECT_EQ(seconds_text(0.0009996), "1 ms") << "once 1e+03 us";
  EXPECT_EQ(seconds_text(12.34), "12.3 s");
  EXPECT_EQ(seconds_text(252), "4 min 12 s");
  FleetRecord record;
  record.peers = record.told = 2;
  EXPECT_EQ(table_row(record, nullptr).size(), table_header(nullptr).size());
  EXPECT_LE(table_header(nullptr).size(), 80U);
  record.mean.accuracy = record.accuracy_min = record.accuracy_max = 0.5;
  EXPECT_EQ(table_row(record, nullptr).size(), table_header(nullptr).size());
  // A single peer has no other accuracy to compare, and no distance between models.
  record.accuracy_min = record.accuracy_max = std::nullopt;
  record.consensus = std::nan("");
  EXPECT_EQ(table_row(record, nullptr).size(), table_header(nullptr).size());
  EXPECT_NE(table_row(record, nullptr).find("0.5000            -         -"), std::string::npos);
  record.consensus = 0;
  EXPECT_NE(summary_text(record, 3, 1, {}, nullptr).find("3 lost"), std::string::npos);
}

TEST(Screen, ARegressionShowsR2WhereAccuracyStands) {
  Dataset test;
  test.rows = 4;
  test.targets = {1, 2, 3, 6};
  FleetRecord record;
  record.peers = record.told = 2;
  record.mean.loss = 0.5;
  EXPECT_EQ(table_header(&test).size(), table_header(nullptr).size());
  EXPECT_NE(table_header(&test).find("      R2 "), std::string::npos);
  EXPECT_EQ(table_header(&test).find("accuracy"), std::string::npos);
  EXPECT_NE(table_row(record, &test).find("  0.7143 "), std::string::npos);
  EXPECT_NE(summary_text(record, 0, 1, {}, &test).find("\nR2         0.7143; root"),
            std::string::npos);
  record.mean.loss = 1e30;
  EXPECT_EQ(table_row(record, &test).size(), table_header(&test).size());
  // A figure that is not finite has no sign either.
  record.mean.loss = record.train_loss = record.loss_local = -std::nan("");
  EXPECT_EQ(table_row(record, &test).size(), table_header(&test).size());
  EXPECT_EQ(table_row(record, &test).find("-nan"), std::string::npos);
  EXPECT_EQ(summary_text(record, 0, 1, {}, &test).find("-nan"), std::string::npos);
}

}  // namespace
}  // namespace gv

#include "peer/record/joined_models.h"

#include <gtest/gtest.h>

#include "optim/unknown_figure.h"

namespace gv {
namespace {

Report part(PeerId peer,
            PeerId model,
            std::size_t begin,
            std::vector<float> x,
            bool last,
            Round round = 4) {
  const auto buffer = std::make_shared<Buffer>(x.size() * sizeof(float));
  std::ranges::copy(x, buffer->floats().begin());
  Report report;
  report.peer = peer;
  report.round = round;
  report.trains = last;
  report.holds = {.begin = begin, .weight = 1, .model = model};
  report.model = buffer;
  return report;
}

/// Evaluates a model as the sum of its values, plus ten times its number.
ModelJudge summing() {
  return {.size = 3, .evaluate = [](PeerId model, std::span<const float> x) {
            double sum = 10.0 * model;
            for (const float value : x) sum += static_cast<double>(value);
            return Evaluation{.loss = sum, .accuracy = {}};
          }};
}

std::map<PeerId, Report> two_chains() {
  std::map<PeerId, Report> reports;
  reports.emplace(0, part(0, 0, 0, {1, 2}, false));
  reports.emplace(1, part(1, 0, 2, {3}, true));
  reports.emplace(2, part(2, 1, 0, {4, 5}, false));
  reports.emplace(3, part(3, 1, 2, {6}, true));
  return reports;
}

TEST(JoinedModels, AreJudgedWhole) {
  std::map<PeerId, Report> reports = two_chains();
  judge_models(reports, summing());
  EXPECT_EQ(reports.at(1).evaluation.loss, 6);
  EXPECT_EQ(reports.at(3).evaluation.loss, 25);
  EXPECT_EQ(reports.at(0).holds.weight, 1);
}

TEST(JoinedModels, CountForNothingWhereAStageIsMissing) {
  for (const PeerId missing : {2U, 3U}) {
    std::map<PeerId, Report> reports = two_chains();
    reports.erase(missing);
    judge_models(reports, summing());
    EXPECT_EQ(reports.at(1).evaluation.loss, 6);
    EXPECT_TRUE(reports.at(1).trains);
    const Report& left = reports.at(missing ^ 1U);
    EXPECT_FALSE(left.trains);
    EXPECT_EQ(left.holds.weight, 0);
  }
}

TEST(JoinedModels, CountForNothingWhereTheirStagesAreOfUnlikeRounds) {
  std::map<PeerId, Report> reports = two_chains();
  reports.at(2).round = 5;
  judge_models(reports, summing());
  EXPECT_FALSE(reports.at(3).trains);
  EXPECT_TRUE(reports.at(1).trains);
}

/// A chain with copies is whole with one copy of each stage. Its training loss is the mean over the
/// copies, weighted by samples.
TEST(JoinedModels, HaveTheFirstOfTheCopiesThatAreLeft) {
  const auto copies = [] {
    std::map<PeerId, Report> reports;
    for (PeerId i = 0; i < 2; ++i) reports.emplace(i, part(i, 0, 0, {1, 2}, false));
    for (PeerId i = 2; i < 4; ++i) reports.emplace(i, part(i, 0, 2, {3}, i == 2));
    reports.at(2).costs.samples = 30;
    reports.at(2).train_loss = 1;
    reports.at(3).costs.samples = 10;
    reports.at(3).train_loss = 5;
    return reports;
  };
  std::map<PeerId, Report> reports = copies();
  judge_models(reports, summing());
  EXPECT_EQ(reports.at(2).evaluation.loss, 6);
  EXPECT_EQ(reports.at(2).train_loss, 2);
  EXPECT_FALSE(reports.at(3).trains);
  reports = copies();
  reports.at(2).train_loss = unknown_figure();
  judge_models(reports, summing());
  EXPECT_EQ(reports.at(2).train_loss, 5) << "the only one that is known";
  for (PeerId lost = 0; lost < 4; ++lost) {
    reports = copies();
    reports.erase(lost);
    judge_models(reports, summing());
    const Report& first = reports.at(lost == 2 ? 3 : 2);
    EXPECT_TRUE(first.trains) << lost;
    EXPECT_EQ(first.evaluation.loss, 6) << lost;
  }
  reports = copies();
  reports.erase(2);
  reports.erase(3);
  judge_models(reports, summing());
  EXPECT_EQ(reports.at(0).holds.weight, 0) << "a stage is missing";
  reports = copies();
  reports.at(1).round = 5;
  judge_models(reports, summing());
  EXPECT_FALSE(reports.at(2).trains) << "a copy is of another round";
}

/// The beginning that a stage reports for its part may be false.
TEST(JoinedModels, BelieveNoStageThatHasAnothersPart) {
  std::map<PeerId, Report> reports = two_chains();
  reports.at(3).holds.begin = 1;
  judge_models(reports, summing());
  EXPECT_FALSE(reports.at(3).trains);
}

}  // namespace
}  // namespace gv

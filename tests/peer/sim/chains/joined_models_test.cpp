#include "peer/record/joined_models.h"

#include <gtest/gtest.h>

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

/// What a model is worth: the sum of its values, and ten times its number.
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

/// What a stage says of where its part begins may be a lie.
TEST(JoinedModels, BelieveNoStageThatHasAnothersPart) {
  std::map<PeerId, Report> reports = two_chains();
  reports.at(3).holds.begin = 1;
  judge_models(reports, summing());
  EXPECT_FALSE(reports.at(3).trains);
}

}  // namespace
}  // namespace gv

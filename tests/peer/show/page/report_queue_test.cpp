#include <gtest/gtest.h>

#include "peer/show/page/report/report_sections.h"

namespace gv {
namespace {

QueueRounds rounds_of(std::uint64_t peer, const std::vector<double>& queues, double compute) {
  QueueRounds rounds{.peer = peer, .rounds = {}};
  for (std::size_t k = 0; k < queues.size(); ++k) {
    StoredRounds row;
    row.round = static_cast<double>(k);
    row.begin = 100 + static_cast<double>(k);
    row.queue = queues[k];
    row.states[0] = compute;
    rounds.rounds.push_back(row);
  }
  return rounds;
}

TEST(QueueFigure, IsOfThoseThatServe) {
  const Figure figure = queue_figure(
      {rounds_of(0, {1, 1, 1}, 0.5), rounds_of(8, {4, 2, 2, 9}, 0), rounds_of(9, {0, 0}, 0)}, "");
  EXPECT_NE(figure.picture, "");
  ASSERT_EQ(figure.numbers.rows.size(), 1U)
      << "who trains, and whose queue was empty, is not there";
  EXPECT_EQ(figure.numbers.rows[0][0], "8");
  EXPECT_EQ(figure.numbers.rows[0][1], "9");
  EXPECT_EQ(figure.numbers.rows[0][2], "2.67") << "the last row has no end";
}

/// The line once had the colour of another method.
TEST(QueueFigure, OneServerHasItsMethodsColour) {
  const std::string picture = queue_figure({rounds_of(8, {4, 2, 2}, 0)}, "", 3).picture;
  EXPECT_NE(picture.find("s3"), std::string::npos) << picture;
  EXPECT_EQ(picture.find("s0"), std::string::npos) << picture;
}

TEST(QueueFigure, WhereNothingWaitedThereIsNone) {
  EXPECT_EQ(queue_figure({}, "").picture, "");
  EXPECT_EQ(queue_figure({rounds_of(0, {5}, 1), rounds_of(1, {0, 0}, 0)}, "").picture, "");
}

TEST(QueueFigure, ShowsTheLongestEight) {
  std::vector<QueueRounds> many;
  for (std::uint64_t peer = 0; peer < 12; ++peer)
    many.push_back(rounds_of(peer, {static_cast<double>(peer), static_cast<double>(peer)}, 0));
  const Figure figure = queue_figure(many, "");
  ASSERT_EQ(figure.numbers.rows.size(), 8U);
  EXPECT_EQ(figure.numbers.rows.front()[0], "4");
  EXPECT_NE(figure.note.find("8 of 11"), std::string::npos) << figure.note;
}

}  // namespace
}  // namespace gv

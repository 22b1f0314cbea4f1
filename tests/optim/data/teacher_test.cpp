#include "optim/data/sets/teacher.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

namespace gv {
namespace {

TEST(Teacher, AnswersAlikeForTheSameSeed) {
  const TrainTest a = ask_teacher(300, 50, 8, 10, 0.3, Rng(1));
  const TrainTest b = ask_teacher(300, 50, 8, 10, 0.3, Rng(1));
  const TrainTest c = ask_teacher(300, 50, 8, 10, 0.3, Rng(2));
  EXPECT_EQ(a.train->floats, b.train->floats);
  EXPECT_EQ(a.train->labels, b.train->labels);
  EXPECT_EQ(a.test->labels, b.test->labels);
  EXPECT_NE(a.train->floats, c.train->floats);
  EXPECT_NE(a.train->labels, c.train->labels);
  EXPECT_EQ(a.train->classes, 10U);
  EXPECT_EQ(a.test->rows, 50U);
  EXPECT_EQ(a.test->floats.size(), 400U);
}

double angle_of(const Dataset& data, std::size_t r) {
  return std::atan2(double{data.floats[2 * r + 1]}, double{data.floats[2 * r]});
}

/// ReLU units without biases answer by the direction of x alone. In the plane, the training sample
/// in the nearest direction has the answer, for training and test set alike.
TEST(Teacher, WithoutNoiseTheAnswerIsAFunctionOfTheDirection) {
  const TrainTest data = ask_teacher(4000, 400, 2, 4, 0, Rng(3));
  std::size_t right = 0;
  for (std::size_t r = 0; r < 400; ++r) {
    const double mine = angle_of(*data.test, r);
    std::size_t nearest = 0;
    double least = 10;
    for (std::size_t k = 0; k < 4000; ++k) {
      const double off = std::abs(std::remainder(angle_of(*data.train, k) - mine, 2 * M_PI));
      if (off < least) {
        least = off;
        nearest = k;
      }
    }
    right += data.train->labels[nearest] == data.test->labels[r] ? 1 : 0;
  }
  EXPECT_GT(right, 390U);
  EXPECT_NE(std::ranges::min(data.test->labels), std::ranges::max(data.test->labels));
}

/// The questions stay the same, and the more noise, the more answers change.
TEST(Teacher, NoiseChangesAnswersAndNothingElse) {
  const auto changed = [](double noise) {
    const TrainTest clean = ask_teacher(2000, 10, 16, 10, 0, Rng(4));
    const TrainTest noisy = ask_teacher(2000, 10, 16, 10, noise, Rng(4));
    EXPECT_EQ(clean.train->floats, noisy.train->floats);
    std::size_t n = 0;
    for (std::size_t r = 0; r < 2000; ++r)
      n += clean.train->labels[r] != noisy.train->labels[r] ? 1 : 0;
    return n;
  };
  EXPECT_EQ(changed(0), 0U);
  EXPECT_GT(changed(0.1), 20U);
  EXPECT_GT(changed(0.5), 2 * changed(0.1));
  EXPECT_LT(changed(0.5), 1200U);
}

TEST(Teacher, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(ask_teacher(10, 10, 0, 3, 0, Rng(1)), std::invalid_argument);
  EXPECT_THROW(ask_teacher(10, 10, 5, 1, 0, Rng(1)), std::invalid_argument);
  EXPECT_THROW(ask_teacher(10, 10, 5, 257, 0, Rng(1)), std::invalid_argument);
}

}  // namespace
}  // namespace gv

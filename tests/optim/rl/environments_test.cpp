#include "optim/rl/environments.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

class Environments : public testing::TestWithParam<std::string> {
 protected:
  const EnvironmentRow& row() const { return *find_environment(GetParam()); }
};

std::string numbers_of(std::span<const double> values) {
  std::string text = "[";
  char digits[40];
  for (const double v : values) {
    std::snprintf(digits, sizeof digits, "%s%.17g", text.size() > 1 ? "," : "", v);
    text += digits;
  }
  return text + "]";
}

/// Returns one line for environments.py.
std::string line_of(const std::string& name,
                    const std::string& before,
                    std::uint32_t action,
                    const std::string& after,
                    const Environment::Step& step) {
  return "{\"name\":\"" + name + "\",\"state\":" + before +
         ",\"action\":" + std::to_string(action) + ",\"next\":" + after +
         ",\"reward\":" + std::to_string(static_cast<int>(step.reward)) +
         ",\"over\":" + (step.over ? "true" : "false") + "}\n";
}

TEST_P(Environments, AThousandStepsAreThoseOfAnIndependentScript) {
  const EnvironmentRow& row = this->row();
  const ScratchFolder scratch;
  const std::string trace = scratch.path() + "/trace";
  std::ofstream out(trace);
  Rng rng = Rng(3).derive(row.name.c_str());
  std::vector<float> seen(row.seen.elements());
  const auto environment = row.make();
  environment->reset(rng, seen);
  for (int k = 0; k < 1000; ++k) {
    const std::string before = numbers_of(environment->state());
    const auto action = static_cast<std::uint32_t>(rng.below(row.actions));
    const Environment::Step step = environment->step(action, rng, seen);
    out << line_of(row.name, before, action, numbers_of(environment->state()), step);
    if (step.ended()) environment->reset(rng, seen);
  }
  out.close();
  const std::string script = source_folder() + "/tests/optim/rl/environments.py";
  EXPECT_EQ(std::system(("/usr/bin/python3 " + script + " < " + trace).c_str()), 0);
}

TEST_P(Environments, AnEpisodeIsCutAtTheLimitAndNotBefore) {
  const EnvironmentRow& row = this->row();
  Rng rng(5);
  std::vector<float> seen(row.seen.elements());
  const auto environment = row.make();
  for (int episode = 0; episode < 20; ++episode) {
    environment->reset(rng, seen);
    std::uint32_t steps = 0;
    for (Environment::Step step; !step.ended(); ++steps) {
      step = environment->step(static_cast<std::uint32_t>(rng.below(row.actions)), rng, seen);
      EXPECT_FALSE(step.over && step.cut);
      EXPECT_EQ(step.cut, !step.over && steps + 1 == row.limit);
    }
    EXPECT_LE(steps, row.limit);
  }
}

TEST_P(Environments, WhatIsRestoredGoesOnAsIfNothingHadBeen) {
  const EnvironmentRow& row = this->row();
  Rng rng(7);
  std::vector<float> seen(row.seen.elements()), again(row.seen.elements());
  const auto one = row.make();
  one->reset(rng, seen);
  for (int k = 0; k < 3; ++k) one->step(0, rng, seen);
  StateWriter saved;
  one->save(saved);
  const auto other = row.make();
  StateReader reader(saved.bytes());
  other->restore(reader);
  reader.end();
  other->look(again);
  EXPECT_EQ(seen, again);
  Rng same = rng;
  for (int k = 0; k < 2; ++k) {
    const Environment::Step a = one->step(1, rng, seen);
    const Environment::Step b = other->step(1, same, again);
    EXPECT_EQ(seen, again);
    EXPECT_EQ(a.ended(), b.ended());
    if (a.ended()) break;
  }
}

TEST_P(Environments, RefusesWhatIsNoState) {
  const EnvironmentRow& row = this->row();
  const auto refuse = [&](std::size_t place, double value, std::uint64_t taken) {
    const auto environment = row.make();
    Rng rng(1);
    std::vector<float> seen(row.seen.elements());
    environment->reset(rng, seen);
    std::vector<double> state(environment->state().begin(), environment->state().end());
    state[place] = value;
    StateWriter out;
    out.name("environment");
    out.values(state);
    out.u64(taken);
    StateReader in(out.bytes());
    EXPECT_THROW(environment->restore(in), std::runtime_error) << place << " " << value;
  };
  refuse(0, std::nan(""), 0);
  const auto fine = row.make();
  Rng rng(1);
  std::vector<float> seen(row.seen.elements());
  fine->reset(rng, seen);
  refuse(0, fine->state()[0], row.limit);
}

TEST(Bricks, RefusesPlacesOutsideTheField) {
  const EnvironmentRow& row = *find_environment("bricks");
  for (const auto& [place, value] : std::vector<std::pair<std::size_t, double>>{
           {0, 10}, {0, 0.5}, {1, 9}, {1, -1}, {2, 0}, {6, 10}, {7, 2}}) {
    const auto environment = row.make();
    Rng rng(1);
    std::vector<float> seen(row.seen.elements());
    environment->reset(rng, seen);
    std::vector<double> state(environment->state().begin(), environment->state().end());
    state[place] = value;
    StateWriter out;
    out.name("environment");
    out.values(state);
    out.u64(0);
    StateReader in(out.bytes());
    EXPECT_THROW(environment->restore(in), std::runtime_error) << place << " " << value;
  }
}

TEST(Bricks, MostOfAWallBreaksUnderABallThatIsAlwaysCaught) {
  const EnvironmentRow& row = *find_environment("bricks");
  const auto environment = row.make();
  Rng rng(2);
  std::vector<float> seen(row.seen.elements());
  environment->reset(rng, seen);
  double broken = 0;
  for (std::uint32_t k = 0; k + 1 < row.limit; ++k) {
    // The paddle follows the ball; both move one place per step.
    const double off = environment->state()[0] + environment->state()[2] - environment->state()[6];
    const std::uint32_t action = off < 0 ? 0 : off > 0 ? 2 : 1;
    const Environment::Step step = environment->step(action, rng, seen);
    broken += static_cast<double>(step.reward);
    if (step.ended()) environment->reset(rng, seen);
  }
  EXPECT_GE(broken, row.solved);
}

TEST(EnvironmentTable, NamesAreFoundAndOthersAreNot) {
  std::set<std::string> names;
  for (const EnvironmentRow& row : environments()) {
    names.insert(row.name);
    EXPECT_EQ(find_environment(row.name), &row);
    EXPECT_EQ(row.shape_of_data().classes, row.actions);
    EXPECT_EQ(row.shape_of_data().features, row.seen.elements());
  }
  EXPECT_EQ(names.size(), environments().size());
  EXPECT_EQ(find_environment("cart-pole"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Table,
                         Environments,
                         testing::Values("cartpole", "mountain-car", "acrobot", "bricks"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::erase(text, '-');
                           return text;
                         });

}  // namespace
}  // namespace gv

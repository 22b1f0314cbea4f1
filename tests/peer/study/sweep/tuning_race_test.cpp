#include <gtest/gtest.h>

#include "peer/study/sweep/sweep.h"

namespace gv {
namespace {

TuningBracket bracket(std::size_t points, const std::string& by) {
  TuningSpec tune;
  tune.by = by;
  return {.points = std::vector<TuningPoint>(points),
          .rungs = rungs_of(tune, points),
          .asynchronous = by == "asha"};
}

TrialScore costs(double rounds) {
  return {.cost = rounds, .last = 1};
}

/// Returns better scores for later places.
TrialScore falling(std::size_t place) {
  return costs(10 - static_cast<double>(place));
}

std::vector<std::size_t> open_in(const TuningRace& race, std::size_t rung, std::size_t places) {
  std::vector<std::size_t> open;
  for (std::size_t place = 0; place < places; ++place)
    if (race.point_at(rung, place) && race.is_open(rung, place)) open.push_back(place);
  return open;
}

using Places = std::vector<std::size_t>;

TEST(TuningRace, HalvingWaitsUntilARungIsWhole) {
  const TuningBracket nine = bracket(9, "halving");
  TuningRace race(nine, 2);
  for (std::size_t seed = 0; seed < 2; ++seed)
    for (std::size_t place = 0; place < 9; ++place) {
      EXPECT_FALSE(race.point_at(1, 0)) << "not known yet";
      race.take(0, place, costs(place == 4 ? 1 : place == 8 ? 2 : 10 + static_cast<double>(place)));
    }
  EXPECT_EQ(race.point_at(1, 0), 4U);
  EXPECT_EQ(race.point_at(1, 1), 8U);
  EXPECT_EQ(race.point_at(1, 2), 0U);
  for (std::size_t seed = 0; seed < 2; ++seed)
    for (std::size_t place = 0; place < 3; ++place)
      race.take(1, place, costs(5 - static_cast<double>(place)));
  EXPECT_EQ(race.point_at(2, 0), 0U) << "the best of the second rung";
  EXPECT_FALSE(race.done());
  race.take(2, 0, costs(3));
  race.take(2, 0, costs(4));
  EXPECT_TRUE(race.done());
  ASSERT_EQ(race.finalists().size(), 1U);
  EXPECT_EQ(race.finalists()[0].point, 0U);
  EXPECT_EQ(race.finalists()[0].score.cost, 3.5);
}

/// The race knows which checkpoints may still be needed.
TEST(TuningRace, WhoIsNotPromotedIsDoneWith) {
  const TuningBracket nine = bracket(9, "halving");
  TuningRace halving(nine, 1);
  EXPECT_FALSE(halving.place_of(1, 4)) << "not known yet";
  for (std::size_t place = 0; place < 9; ++place) {
    EXPECT_TRUE(halving.may_be_promoted(0, place)) << "as long as the rung is not whole";
    halving.take(0, place, falling(place));
  }
  for (std::size_t place = 0; place < 9; ++place)
    EXPECT_EQ(halving.may_be_promoted(0, place), place >= 6) << place;
  EXPECT_EQ(halving.place_of(1, 8), 0U);
  EXPECT_EQ(halving.place_of(1, 6), 2U);
  EXPECT_FALSE(halving.place_of(1, 0));
  EXPECT_FALSE(halving.may_be_promoted(2, 0)) << "there is no rung after the last";

  const TuningBracket late = bracket(9, "asha");
  TuningRace asha(late, 1);
  for (std::size_t place = 0; place < 9; ++place) asha.take(0, place, falling(place));
  EXPECT_TRUE(asha.may_be_promoted(0, 0)) << "until the race is over";
}

/// Algorithm 2 of Li et al. 2020: the best of three finished trials continues at once.
TEST(TuningRace, AshaPromotesAsSoonAsThreeAreDone) {
  const TuningBracket nine = bracket(9, "asha");
  TuningRace race(nine, 1);
  race.take(0, 5, costs(7));
  race.take(0, 6, costs(8));
  EXPECT_EQ(open_in(race, 1, 9), Places{});
  race.take(0, 7, costs(9));
  EXPECT_EQ(open_in(race, 1, 9), Places{5}) << "the best of three";
  EXPECT_EQ(open_in(race, 2, 9), Places{});
  race.take(0, 0, costs(3));
  EXPECT_EQ(open_in(race, 1, 9), Places{0}) << "nobody has begun 5, and 0 is better";
}

/// A trial that began is finished, even if better ones come later. The race ends only then.
TEST(TuningRace, AshaKeepsWhatWasBegun) {
  const TuningBracket nine = bracket(9, "asha");
  TuningRace race(nine, 1);
  for (std::size_t place = 0; place < 3; ++place) race.take(0, place, falling(place));
  ASSERT_EQ(open_in(race, 1, 9), Places{2});
  race.set_claimed({{1, 2}});
  for (std::size_t place = 3; place < 9; ++place) race.take(0, place, falling(place));
  EXPECT_EQ(open_in(race, 1, 9), (Places{2, 6, 7, 8}));
  for (const std::size_t place : {6U, 7U, 8U}) race.take(1, place, falling(place));
  EXPECT_EQ(open_in(race, 2, 9), Places{8});
  race.take(2, 8, costs(2));
  EXPECT_FALSE(race.done()) << "2 is under way";
  race.take(1, 2, costs(1));
  race.set_claimed({});
  EXPECT_EQ(open_in(race, 2, 9), (Places{2, 8})) << "1 of 4 is promoted, and 8 was begun";
  EXPECT_FALSE(race.done());
  race.take(2, 2, costs(1));
  EXPECT_TRUE(race.done());
  EXPECT_EQ(race.finalists().size(), 2U);
}

/// With one process it costs what halving costs, apart from early promotions.
TEST(TuningRace, AshaAloneTriesEverythingAndEndsWithABest) {
  const TuningBracket all = bracket(27, "asha");
  TuningRace race(all, 1);
  std::vector<std::size_t> tried(all.rungs.size());
  const auto next = [&]() -> std::optional<std::pair<std::size_t, std::size_t>> {
    for (std::size_t rung = all.rungs.size(); rung-- > 0;)
      for (const std::size_t place : open_in(race, rung, 27)) {
        bool known = false;
        for (const TuningRace::Scored& each : race.scored_in(rung)) known |= each.point == place;
        if (!known) return std::pair{rung, place};
      }
    return std::nullopt;
  };
  while (const auto at = next()) {
    ++tried[at->first];
    race.take(at->first, at->second, costs(static_cast<double>((at->second * 7) % 27)));
  }
  EXPECT_TRUE(race.done());
  EXPECT_EQ(tried[0], 27U);
  EXPECT_GE(tried[1], 9U);
  EXPECT_LE(tried[1], 13U);
  EXPECT_GE(race.finalists().size(), 1U);
  EXPECT_EQ(race.finalists()[0].point, 0U) << "cost 0";
}

}  // namespace
}  // namespace gv

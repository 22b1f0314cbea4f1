#include "gossip/servers/robust_rules.h"

#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "optim/rng.h"

namespace gv {
namespace {

using Floats = std::vector<float>;

Vectors views(const std::vector<Floats>& vectors) {
  return {vectors.begin(), vectors.end()};
}

std::vector<Floats> normals(std::size_t m, std::size_t d, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Floats> vectors(m, Floats(d));
  for (Floats& v : vectors)
    for (float& value : v) value = static_cast<float>(rng.normal());
  return vectors;
}

double squares_between(const Floats& a, const Floats& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double apart = static_cast<double>(a[k]) - static_cast<double>(b[k]);
    sum += apart * apart;
  }
  return sum;
}

/// Returns the sum of squared distances between i and the members of a set.
double score(const std::vector<Floats>& vectors, std::size_t i, std::uint32_t set) {
  double sum = 0;
  for (std::size_t j = 0; j < vectors.size(); ++j)
    if ((set >> j & 1U) != 0) sum += squares_between(vectors[i], vectors[j]);
  return sum;
}

/// Blanchard et al. 2017, section 4: the least score over every set of m - f - 2 others.
std::size_t krum_by_sets(const std::vector<Floats>& vectors, std::size_t liars) {
  const std::size_t m = vectors.size();
  std::size_t best = 0;
  double least = 1e300;
  for (std::size_t i = 0; i < m; ++i)
    for (std::uint32_t set = 0; set < (1U << m); ++set) {
      const auto size = static_cast<std::size_t>(std::popcount(set));
      if (size != m - liars - 2 || (set >> i & 1U) != 0) continue;
      if (score(vectors, i, set) >= least) continue;
      least = score(vectors, i, set);
      best = i;
    }
  return best;
}

TEST(Krum, IsItsPapersChoice) {
  std::size_t others_than_first = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::vector<Floats> vectors = normals(8, 5, seed);
    for (const std::size_t liars : {0U, 1U, 2U})
      EXPECT_EQ(krum(views(vectors), liars), krum_by_sets(vectors, liars)) << seed;
    others_than_first += krum(views(vectors), 2) != 0 ? 1 : 0;
  }
  EXPECT_GT(others_than_first, 20U);
}

TEST(Krum, CountsTheNearest) {
  EXPECT_EQ(krum(views({{0}, {1}, {3}, {7}}), 0), 1U) << "1 + 4, where 0 has 1 + 9";
  EXPECT_EQ(krum(views({{0}, {1}, {3}, {7}}), 1), 0U) << "the first of two that have 1";
  EXPECT_EQ(krum(views({{5}}), 3), 0U);
  EXPECT_EQ(krum(views({{5}, {6}}), 3), 0U);
}

TEST(Krum, NeverChoosesWhoIsFarAway) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<Floats> vectors = normals(7, 4, seed);
    for (const std::size_t liar : {2U, 5U}) vectors[liar].assign(4, 1e18F);
    const std::size_t chosen = krum(views(vectors), 2);
    EXPECT_TRUE(chosen != 2 && chosen != 5) << seed;
  }
}

TEST(TrimmedMean, LeavesOutTheEndsOfEachCoordinate) {
  const std::vector<Floats> vectors{{1, -9}, {2, 5}, {30, 6}, {4, 7}, {-50, 80}};
  Floats out(2);
  trimmed_mean(views(vectors), 1, out);
  EXPECT_FLOAT_EQ(out[0], 7.0F / 3) << "1, 2, 4";
  EXPECT_FLOAT_EQ(out[1], 6) << "5, 6, 7";
  trimmed_mean(views(vectors), 2, out);
  EXPECT_EQ(out, (Floats{2, 6})) << "the median";
  trimmed_mean(views(vectors), 9, out);
  EXPECT_EQ(out, (Floats{2, 6})) << "one is left";
  trimmed_mean(views(vectors), 0, out);
  EXPECT_FLOAT_EQ(out[1], 89.0F / 5);
}

TEST(TrimmedMean, HasTheSameBitsInWhateverOrder) {
  std::vector<Floats> vectors = normals(6, 50, 3);
  Floats one(50);
  Floats other(50);
  trimmed_mean(views(vectors), 1, one);
  std::ranges::reverse(vectors);
  trimmed_mean(views(vectors), 1, other);
  EXPECT_EQ(one, other);
}

TEST(NearestMixing, IsTheMeanOfTheNearest) {
  const std::vector<Floats> vectors{{0}, {1}, {2}, {100}};
  const std::vector<Floats> mixed = mixed_with_nearest(views(vectors), 1);
  EXPECT_EQ(mixed, (std::vector<Floats>{{1}, {1}, {1}, {103.0F / 3}}));
  EXPECT_EQ(nearest(views(vectors), Floats{1.4F}, 2), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(nearest(views({{5}, {5}, {5}}), Floats{5}, 2), (std::vector<std::size_t>{0, 1}))
      << "the first of those that are equally near";
}

/// Allouah et al. 2023, section 3: mixing brings honest vectors together, despite any others.
TEST(NearestMixing, BringsTheHonestTogether) {
  std::vector<Floats> vectors = normals(9, 20, 5);
  for (const std::size_t liar : {7U, 8U}) vectors[liar].assign(20, 50.0F);
  const auto apart = [](const std::vector<Floats>& all) {
    double sum = 0;
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 7; ++j) sum += squares_between(all[i], all[j]);
    return sum;
  };
  EXPECT_LT(apart(mixed_with_nearest(views(vectors), 2)), 0.1 * apart(vectors));
}

TEST(Aggregates, SayWhatTheyNeed) {
  gv::Setup setup{.peers = 8, .servers = 1};
  EXPECT_EQ(aggregate_objection(setup, 8), "") << "a method without the option";
  setup.settings = {{"aggregate", 1}, {"liars", 2}};
  EXPECT_EQ(aggregate_objection(setup, 7), "");
  EXPECT_NE(aggregate_objection(setup, 6).find("`liars: 2` krum needs at least 7 contributions"),
            std::string::npos);
  setup.settings["aggregate"] = 2;
  EXPECT_EQ(aggregate_objection(setup, 5), "");
  EXPECT_NE(aggregate_objection(setup, 4).find("`liars: 2` trimmed-mean needs at least 5"),
            std::string::npos);
  setup.servers = 3;
  EXPECT_EQ(aggregate_objection(setup, 5), "") << "each coordinate by itself";
  setup.settings["aggregate"] = 3;
  EXPECT_NE(aggregate_objection(setup, 8).find("take `servers: 1`"), std::string::npos);
}

}  // namespace
}  // namespace gv

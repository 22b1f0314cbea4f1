#include "peer/study/compare/first_map.h"

#include <cmath>

#include <gtest/gtest.h>

#include "peer/show/page/page_figures.h"

namespace gv {
namespace {

/// Returns a method whose round takes `hops` latencies and `bytes`, and at least `compute`.
MapMethod method(const char* label, double rounds, double hops, double bytes, double compute = 0) {
  return {.label = label,
          .rounds = rounds,
          .low = {},
          .high = {},
          .seconds_per_round = [=](const MapPlace& at) {
            return std::max(compute, hops * at.latency + bytes / at.bandwidth);
          }};
}

FirstMap draw(std::vector<MapMethod> methods, int threads = 2) {
  return draw_first_map(std::move(methods), map_latencies(), map_bandwidths(), threads, {});
}

TEST(FirstMap, HasTwelveTimesTwelveNetworks) {
  EXPECT_EQ(map_latencies().size(), 12U);
  EXPECT_EQ(map_bandwidths().size(), 12U);
  EXPECT_NEAR(map_latencies().front(), 1e-5, 1e-12);
  EXPECT_NEAR(map_latencies().back(), 0.05, 1e-9);
  EXPECT_NEAR(map_bandwidths().front(), 5e6 / 8, 1e-3);
  EXPECT_NEAR(map_bandwidths().back(), 20e9 / 8, 1);
  EXPECT_EQ(draw({method("a", 1, 1, 1)}).cells.size(), 144U);
}

/// 900 rounds of 14 hops and 2 MB equal 1000 rounds of one hop and 4 MB where 900 (14 a + 2e6 / B)
/// = 1000 (a + 4e6 / B), that is a B = 2.2e9 / 11600.
TEST(FirstMap, FindsWhereTwoCostsAreEqual) {
  const FirstMap map = draw({method("many hops", 900, 14, 2e6), method("wide", 1000, 1, 4e6)});
  ASSERT_FALSE(map.changes.empty());
  std::size_t along_bandwidth = 0;
  for (const MapChange& change : map.changes) {
    EXPECT_NEAR(change.at.latency * change.at.bandwidth * 11600 / 2.2e9, 1, 0.011);
    along_bandwidth += change.along_bandwidth ? 1 : 0;
    EXPECT_EQ(change.before, 0U) << "fewer bytes are worth more where there is little bandwidth";
    EXPECT_EQ(change.after, 1U);
  }
  EXPECT_GT(along_bandwidth, 5U);
  EXPECT_LT(along_bandwidth, map.changes.size());
  for (const MapCell& cell : map.cells) {
    const double product = cell.at.latency * cell.at.bandwidth * 11600 / 2.2e9;
    EXPECT_EQ(cell.first, product < 1 ? 0U : 1U);
  }
}

/// A third method may be first in a range between two networks of the grid.
TEST(FirstMap, FindsAMethodThatIsFirstBetweenTwoNetworks) {
  const FirstMap map = draw_first_map(
      {method("a", 1, 0, 1.0, 0), method("b", 1, 0, 0.45, 0.0011), method("c", 1, 0, 0, 0.001)},
      {1, 2},
      {100, 2000},
      1,
      {});
  std::vector<std::pair<std::size_t, std::size_t>> changes;
  for (const MapChange& change : map.changes)
    if (change.at.latency == 1) changes.emplace_back(change.before, change.after);
  EXPECT_EQ(changes, (std::vector<std::pair<std::size_t, std::size_t>>{{2, 0}}));
  const FirstMap three = draw_first_map(
      {method("a", 1, 0, 1.0, 0.0), method("b", 1, 0, 0.1, 0.002), method("c", 1, 0, 0, 0.008)},
      {1, 2},
      {10, 2000},
      1,
      {});
  changes.clear();
  for (const MapChange& change : three.changes)
    if (change.at.latency == 1) changes.emplace_back(change.before, change.after);
  EXPECT_EQ(changes, (std::vector<std::pair<std::size_t, std::size_t>>{{2, 1}, {1, 0}}));
}

TEST(FirstMap, ThreadsChangeNothing) {
  const auto methods = [] {
    return std::vector{method("x", 900, 14, 2e6), method("y", 1000, 1, 4e6, 0.01)};
  };
  EXPECT_EQ(map_json(draw(methods(), 1)).dump(), map_json(draw(methods(), 4)).dump());
}

/// An asynchronous method competes only on networks on which it was trained. Elsewhere the map
/// notes that it is missing.
TEST(FirstMap, KnowsAsynchronousMethodsWhereTheyWereTrained) {
  MapMethod trained{
      .label = "ad-psgd", .rounds = 500, .low = {}, .high = {}, .seconds_per_round = {}};
  trained.trained = {{{0.0048, 11e6}, 0.5}};  // next to 5 ms, 100 Mbit
  const FirstMap map = draw({method("ring", 1000, 1, 4e6), trained});
  std::size_t whole = 0;
  for (const MapCell& cell : map.cells) {
    if (!cell.whole) continue;
    ++whole;
    EXPECT_NEAR(cell.at.latency, 0.005, 1e-9);
    EXPECT_NEAR(cell.at.bandwidth, 12.5e6, 1);
    EXPECT_EQ(cell.first, 1U);
  }
  EXPECT_EQ(whole, 1U);
  const std::string text = map_text(map);
  EXPECT_NE(text.find("ad-psgd: known only where trained"), std::string::npos) << text;
  EXPECT_THROW(draw({trained}), std::invalid_argument);
}

TEST(FirstMap, CloseOnesAreNamed) {
  const FirstMap map = draw({method("one", 100, 1, 1e6), method("other", 104, 1, 1e6)});
  for (const MapCell& cell : map.cells) EXPECT_EQ(cell.close, std::size_t{1});
  EXPECT_NE(map_text(map).find("O=T"), std::string::npos);
  const FirstMap apart = draw({method("one", 100, 1, 1e6), method("other", 106, 1, 1e6)});
  for (const MapCell& cell : apart.cells) EXPECT_FALSE(cell.close);
}

TEST(FirstMap, IsReadWithinEightyColumns) {
  FirstMap map = draw({method("a name that is very long, as those of sweeps can be", 900, 14, 2e6),
                       method("wide", 1000, 1, 4e6)});
  map.about = "accuracy 0.93: 8 peers, 50890 parameters";
  const std::string text = map_text(map);
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  EXPECT_LE(longest, 80U) << text;
  EXPECT_NE(text.find("0.01 ms"), std::string::npos);
  EXPECT_NE(text.find("20"), std::string::npos);
}

TEST(FirstMap, ThePictureHasACellForEachNetworkAndEscapesNames) {
  FirstMap map = draw({method("<b>&\"", 900, 14, 2e6), method("wide", 1000, 1, 4e6)});
  map.runs = {{0.005, 12.5e6}, {0, INFINITY}};
  const std::string picture = map_picture(map);
  std::size_t cells = 0;
  for (std::size_t at = picture.find("map-cell"); at != std::string::npos;
       at = picture.find("map-cell", at + 1))
    ++cells;
  EXPECT_EQ(cells, 144U + 2U);
  EXPECT_EQ(picture.find("<b>"), std::string::npos);
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(picture.find("inf"), std::string::npos);
  EXPECT_EQ(map_figure(map).numbers.rows.size(), 144U);
}

TEST(FirstMap, LettersAreAsManyAsThereAreMethods) {
  const std::vector<char> letters =
      map_letters({method("ring", 1, 1, 1), method("ring 2", 1, 1, 1), method("r", 1, 1, 1)});
  EXPECT_EQ(letters, (std::vector<char>{'R', 'I', 'A'}));
}

}  // namespace
}  // namespace gv

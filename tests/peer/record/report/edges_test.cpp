#include <gtest/gtest.h>

#include "peer/record/report/screen.h"

namespace gv {
namespace {

TEST(EdgesText, SaysWhichEdgesAreWhich) {
  const std::set<Edge> ring{{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  EXPECT_EQ(edges_text(ring, ring), "4 edges, all in shared memory");
  EXPECT_EQ(edges_text(ring, {}), "4 edges, all over TCP");
  EXPECT_EQ(edges_text(ring, {{0, 1}, {1, 2}, {2, 3}}),
            "4 edges, 3 in shared memory and 1 over TCP; over TCP: 0-3");
  EXPECT_EQ(edges_text(ring, {{0, 3}}),
            "4 edges, 1 in shared memory and 3 over TCP; in shared memory: 0-3");
}

TEST(EdgesText, NamesNoMoreThanFitIntoALine) {
  std::set<Edge> star, shared;
  for (PeerId leaf = 1; leaf <= 40; ++leaf) star.insert({0, leaf});
  for (PeerId leaf = 1; leaf <= 20; ++leaf) shared.insert({0, leaf});
  EXPECT_EQ(edges_text(star, shared),
            "40 edges, 20 in shared memory and 20 over TCP; over TCP: 0-21 0-22 0-23 0-24 0-25 "
            "0-26 0-27 0-28 and 12 more");
}

}  // namespace
}  // namespace gv

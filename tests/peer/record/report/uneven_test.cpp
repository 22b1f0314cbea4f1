#include <regex>

#include <gtest/gtest.h>

#include "peer/record/report/screen.h"
#include "peer/record/report/warnings.h"

namespace gv {
namespace {

/// The last reports of some peers. Each report gives the ends of its peer's exchanges.
class Ends : public testing::Test {
 protected:
  void add(PeerId peer, std::vector<EdgeEnd> edges) {
    reports_[peer].edges = std::move(edges);
    last[peer] = &reports_[peer];
  }
  std::map<PeerId, const Report*> last;

 private:
  std::map<PeerId, Report> reports_;
};

TEST_F(Ends, AreUnevenWhereTwoEndsDiffer) {
  add(0, {{1, {4}, 0}});
  add(1, {{0, {4}, 0}, {2, {1}, 0}});
  add(2, {{1, {2}, 0}, {3, {7}, 2}});
  add(3, {{2, {7}, 3}});
  const std::vector<UnevenEdge> uneven = uneven_edges(last);
  ASSERT_EQ(uneven.size(), 2U);
  EXPECT_EQ(uneven[0].a, 1U);
  EXPECT_EQ(uneven[0].b, 2U);
  EXPECT_EQ(uneven_json(uneven).dump(), R"([{"peers":[1,2],"exchanges":[1,2],"pieces":[0,0]},)"
                                        R"({"peers":[2,3],"exchanges":[7,7],"pieces":[2,3]}])");
  const std::string text = std::regex_replace(uneven_text(uneven), std::regex("\n *"), " ");
  EXPECT_NE(text.find("exchange 1 of peers 1 and 2, 7 of peers 2 and 3"), std::string::npos)
      << text;
}

/// A lost peer sends no report, and a peer that met a successor reports nothing for that edge.
TEST_F(Ends, OfWhomOnlyOneSaysSomethingAreNotUneven) {
  add(0, {{1, {4}, 0}, {2, {3}, 0}});
  add(2, {});
  EXPECT_TRUE(uneven_edges(last).empty());
  EXPECT_EQ(uneven_text({}), "");
}

TEST_F(Ends, ManyOfThemFitTheScreen) {
  std::vector<EdgeEnd> hub;
  for (PeerId i = 1; i < 1000; ++i) {
    hub.push_back({i, {1'000'000'000}, 0});
    add(i, {{0, {1'000'000'001}, 0}});
  }
  add(0, hub);
  const std::string text = uneven_text(uneven_edges(last));
  EXPECT_NE(text.find("and 994 more"), std::string::npos) << text;
  EXPECT_LT(text.size(), 800U);
}

}  // namespace
}  // namespace gv

#include <chrono>
#include <regex>

#include <gtest/gtest.h>

#include "peer/record/report/warnings.h"

namespace gv {
namespace {

std::string on_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\n *"), " ");
}

/// Peers 0 to 2. Peer 1 ran ahead, edge 1-2 is silent, and peer 3 never reported.
FleetRecord unsteady() {
  Report first, second, third;
  first.peer = 0;
  second.peer = 1;
  third.peer = 2;
  second.silent = {{.with = 2, .since = 40, .rounds = 300}, {.with = 3, .since = 7, .rounds = 900}};
  third.silent = {{.with = 1, .since = 41, .rounds = 290}};
  FleetRecord record;
  record.quiet = quiet_edges({{0, &first}, {1, &second}, {2, &third}});
  record.ran_ahead[1] = {.first = 240, .rounds = 714'646, .usual = std::chrono::milliseconds(15)};
  return record;
}

TEST(Unsteady, IsNamedWithItsRoundsAndWhatIsUsual) {
  const FleetRecord record = unsteady();
  EXPECT_FALSE(record.sound());
  EXPECT_EQ(
      on_one_line(unsteady_text(record)),
      "ran ahead  without neighbours, more than twice as fast as with them: peer 1 (714646 rounds "
      "from round 240 on; usual: 15 ms a round). Their models followed their own data meanwhile "
      "silent     nothing flowed any more between peers that were both there: 1-2 (300 rounds "
      "since round 40; usual: a flow in each)");
  Json line;
  add_unsteady(line, record);
  EXPECT_EQ(line.dump(), R"({"ran_ahead":[{"peer":1,"first":240,"rounds":714646,"usual":0.015}],)"
                         R"("silent":[{"peers":[1,2],"since":40,"rounds":300}]})");
}

TEST(Unsteady, IsNotSaidOfAFleetThatIsSteady) {
  const FleetRecord record;
  EXPECT_TRUE(record.sound());
  EXPECT_EQ(unsteady_text(record), "");
  Json line{{"event", "summary"}};
  add_unsteady(line, record);
  EXPECT_EQ(line.dump(), R"({"event":"summary"})");
}

}  // namespace
}  // namespace gv

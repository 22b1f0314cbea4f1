#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>

#include "peer/show/live/observed_run.h"
#include "tests/peer/show/live/views.h"

namespace gv {
namespace {

RunView read_back(const RunView& view) {
  return parse_view(parse_json(json_of(view).dump(), "state.json"));
}

TEST(RunView, IsReadBackAsItWasWritten) {
  for (const bool activities : {false, true}) {
    RunView view = a_view(3, activities);
    view.peers[1].state.stage = PeerState::Stage::restarting;
    view.peers[1].state.ending = "killed by signal 9";
    view.peers[1].state.restarts = 2;
    view.peers[1].cpu_share.reset();
    view.peers[2].lag = 7;
    view.checkpoint = OrderAnswer{.order = 3, .round = 240, .last = 240};
    const RunView back = read_back(view);
    EXPECT_EQ(json_of(back).dump(), json_of(view).dump());
    EXPECT_EQ(back.peers[1].state.ending, "killed by signal 9");
    EXPECT_EQ(back.peers[2].lag, 7U);
    EXPECT_EQ(back.peers[0].state.activities.has_value(), activities);
    EXPECT_EQ(back.checkpoint->round, 240U);
    EXPECT_EQ(back.alive(), 2U);
  }
}

TEST(RunView, WithoutAnEvaluationOrAnEndToo) {
  RunView view = a_view(1);
  view.latest.reset();
  view.rounds.reset();
  view.phase = FleetState::Phase::ended;
  view.losses = {NAN};
  view.checkpoint = OrderAnswer{.order = 1, .refused = "the run is stopping"};
  const RunView back = read_back(view);
  EXPECT_FALSE(back.latest);
  EXPECT_FALSE(back.rounds);
  EXPECT_EQ(back.phase, FleetState::Phase::ended);
  EXPECT_EQ(back.checkpoint->refused, "the run is stopping");
}

TEST(RunView, RefusesWhatIsNoState) {
  for (const char* text : {"{}", R"({"schema":"grapevine.live/2"})",
                           R"({"schema":"grapevine.live/1"})", R"({"schema":7})"})
    EXPECT_THROW(parse_view(parse_json(text, "state.json")), std::runtime_error) << text;
}

}  // namespace
}  // namespace gv

#include <algorithm>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "peer/record/report/screen.h"
#include "peer/record/watch/hold_ups.h"
#include "peer/show/live/observed_run.h"
#include "tests/peer/show/live/views.h"

namespace gv {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TopScreen, FitsEveryTerminal) {
  for (const PeerId peers : {1U, 8U, 100U, 1000U}) {
    for (const bool activities : {false, true}) {
      for (const std::size_t columns : {60U, 80U, 120U}) {
        for (const std::size_t lines : {6U, 24U, 50U}) {
          const auto screen = lines_of(top_screen(a_view(peers, activities), columns, lines));
          EXPECT_LE(screen.size(), lines);
          EXPECT_GE(screen.size(), std::min<std::size_t>(lines, 3 + peers));
          for (const std::string& line : screen) EXPECT_LE(columns_of(line), columns) << line;
        }
      }
    }
  }
}

TEST(TopScreen, At80ColumnsNothingIsCut) {
  for (const bool activities : {false, true})
    for (const std::string& line : lines_of(top_screen(a_view(8, activities), 80, 24)))
      EXPECT_EQ(cut_to_columns(line, 79), line) << "might be cut";
}

/// A pipe has no width. The name of the host that holds the others up was once cut there.
TEST(TopScreen, CutsNothingWhereThereIsRoom) {
  RunView view = a_view(4, true);
  view.title.hosts.assign(4, "a-host-of-the-department-in-the-basement");
  for (PeerView& peer : view.peers) {
    const bool slow = peer.state.id == 2;
    peer.state.activities = ActivitySeconds{slow ? 9.0 : 2.0, 0, 0, slow ? 0.0 : 7.0, 0, 0, 0, 1};
    peer.state.waits = {{.peer = 2, .late = 7}};
    if (slow) peer.state.waits.clear();
  }
  EXPECT_TRUE(lines_of(top_screen(view, 1000, 100'000)).back().ends_with("waiting for it"));
  EXPECT_FALSE(lines_of(top_screen(view, 80, 24)).back().ends_with("waiting for it"));
}

TEST(TopScreen, SaysWhereTheRunIs) {
  const auto screen = lines_of(top_screen(a_view(8), 80, 24));
  EXPECT_EQ(screen[0], "fashion-ring8  round 120/300  12 rounds/s  8/8 peers  15.0 s left");
  EXPECT_EQ(screen[1], "loss 0.331  accuracy 0.8840 worst 0.8710  consensus 5.80e-02  █▃▂▁▁");
  EXPECT_EQ(screen.size(), 11U);
}

/// For agents the screen once showed a loss of -331 too, and a curve that fell while they learned.
TEST(TopScreen, SaysTheReturnOfAgents) {
  RunView view = a_view(8);
  view.latest->loss = -331;
  view.latest->loss_local = -320;
  view.latest->frames = 250'000;
  for (double& loss : view.losses) loss = -100 * (3 - loss);
  EXPECT_EQ(lines_of(top_screen(view, 80, 24))[1],
            "return 331, 320 local  250000 frames  consensus 5.80e-02  ▁▆▇██");
}

TEST(TopScreen, SaysHowManyActorsLiveAndHowOftenATransitionIsLearntFrom) {
  RunView view = a_view(8);
  view.latest->frames = 250'000;
  view.latest->actors = 7;
  const auto line = [&view] { return lines_of(top_screen(view, 120, 24))[1]; };
  EXPECT_NE(line().find("  250000 frames  7 actors  consensus"), std::string::npos) << line();
  view.latest->samples_per_insert = 15.96;
  EXPECT_NE(line().find("  7 actors, 15.96 samples a transition  "), std::string::npos) << line();
}

TEST(TopScreen, ShowsThoseInTroubleWhenNotAllFit) {
  RunView view = a_view(100);
  view.peers[70].state.stage = PeerState::Stage::lost;
  view.peers[70].state.ending = "killed by signal 9";
  view.peers[33].lag = 40;
  const auto screen = lines_of(top_screen(view, 80, 6));
  ASSERT_EQ(screen.size(), 6U);
  EXPECT_NE(screen[3].find("   33 "), std::string::npos) << screen[3];
  EXPECT_NE(screen[4].find("killed by signal 9"), std::string::npos) << screen[4];
  EXPECT_EQ(screen[5], "and 98 more peers, none with a larger lag");
}

TEST(TopScreen, NamesThePeerThatHoldsOthersUp) {
  RunView view = a_view(4, true);
  for (PeerView& peer : view.peers) peer.state.waits.clear();
  EXPECT_EQ(top_screen(view, 80, 24).find('!'), std::string::npos);
  view.title.hosts = {"anna", "ben", "carl", "dora"};
  for (const std::size_t k : {0U, 2U}) {  // these wait for peer 1 for most of their time
    PeerState& state = view.peers[k].state;
    state.activities = ActivitySeconds{2, 0, 0, 8, 0, 0, 0, 0};
    state.waits = {{.peer = 1, .late = 8, .wire = 0}};
  }
  view.peers[1].state.activities = ActivitySeconds{10, 0, 0, 0, 0, 0, 0, 0};
  view.peers[3].state.activities = ActivitySeconds{10, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_TRUE(top_screen(view, 80, 24)
                  .ends_with("! peer 1 (ben) holds the others up: 40 % of all peers' time is "
                             "waiting for it"));
}

/// A ring with a slow link and a peer that stood still for half of the time. The run resumed in
/// round `first` and has done 50 rounds since.
FleetState resumed_ring(Round first) {
  FleetState state{.phase = FleetState::Phase::training, .round = first + 50, .first = first};
  const auto add = [&](std::vector<NeighborWait> waits, double stood) {
    ActivitySeconds spent{};
    spent[static_cast<std::size_t>(Activity::other)] = stood;
    double rest = 100 - stood;
    for (const NeighborWait& wait : waits) {
      spent[static_cast<std::size_t>(Activity::late)] += wait.late;
      spent[static_cast<std::size_t>(Activity::wire)] += wait.wire;
      rest -= wait.late + wait.wire;
    }
    spent[static_cast<std::size_t>(Activity::compute)] = rest;
    PeerState peer{.id = static_cast<PeerId>(state.peers.size()), .round = first + 50};
    peer.activities = spent;
    peer.waits = std::move(waits);
    state.peers.push_back(std::move(peer));
  };
  add({{1, 5, 5, 1}, {3, 58, 5, 8}}, 0);
  add({{0, 2, 2, 1}, {2, 2, 25, 1}}, 55);
  add({{1, 5, 60, 8}, {3, 5, 3, 1}}, 0);
  add({{0, 3, 5, 1}, {2, 60, 5, 8}}, 0);
  return state;
}

/// `top` reads the run as JSON, and must name the peer that `run` names. It once counted the
/// earlier rounds too, and took many short stops for one pause.
TEST(TopScreen, NamesWhomRunNames) {
  Fleet fleet;
  fleet.peers.resize(4);
  for (const Round first : {0U, 100'000U}) {
    const FleetState state = resumed_ring(first);
    const std::vector<HoldUp> said = hold_ups(fleet, state);
    EXPECT_EQ(said.size(), 1U);
    Feed feed;
    feed.put(state);
    ObservedRun run({.name = "x"}, feed, [](pid_t) { return std::nullopt; });
    const auto view = run.view(ObservedRun::Clock::time_point{});
    const std::string screen =
        top_screen(parse_view(parse_json(json_of(*view).dump(), "state.json")), 80, 24);
    for (const HoldUp& each : said)
      EXPECT_NE(screen.find("! " + each.who + " holds"), std::string::npos) << screen;
    EXPECT_EQ(std::ranges::count(screen, '!'), static_cast<std::ptrdiff_t>(said.size())) << screen;
  }
}

TEST(TopScreen, WhatComesFromOutsideDoesNotControlTheTerminal) {
  RunView view = a_view(2);
  view.title.name = "\033[2Jevil";
  view.peers[0].state.ending = "\033]0;evil\007";
  EXPECT_EQ(top_screen(view, 80, 24).find('\033'), std::string::npos);
}

TEST(TopScreen, SparklinesStandNotFiniteValues) {
  EXPECT_EQ(sparkline({1, 8, NAN, INFINITY}), "▁█??");
  EXPECT_EQ(sparkline({3, 3}), "▁▁");
  EXPECT_EQ(sparkline({}), "");
}

}  // namespace
}  // namespace gv

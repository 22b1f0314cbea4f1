#include "peer/live/top_screen.h"

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "peer/report/screen.h"
#include "tests/peer/live/views.h"

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

TEST(TopScreen, SaysWhereTheRunIs) {
  const auto screen = lines_of(top_screen(a_view(8), 80, 24));
  EXPECT_EQ(screen[0], "fashion-ring8  round 120/300  12 rounds/s  8/8 peers  15.0 s left");
  EXPECT_EQ(screen[1], "loss 0.331  accuracy 0.8840 worst 0.8710  consensus 5.80e-02  █▃▂▁▁");
  EXPECT_EQ(screen.size(), 11U);
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
  EXPECT_EQ(screen[5], "and 98 more peers, none of them further behind");
}

TEST(TopScreen, NamesThePeerThatHoldsOthersUp) {
  RunView view = a_view(4, true);
  for (PeerView& peer : view.peers) peer.state.waits.clear();
  EXPECT_EQ(top_screen(view, 80, 24).find('!'), std::string::npos);
  view.title.hosts = {"anna", "ben", "carl", "dora"};
  for (const std::size_t k : {0U, 2U}) {  // wait for peer 1 for most of their time
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

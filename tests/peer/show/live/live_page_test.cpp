#include "peer/show/live/live_page.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/peer/show/live/views.h"

namespace gv {
namespace {

/// Hashes of FIPS 180-4's example and of an empty text, in base64.
TEST(CspHash, AgreesWithItsStandard) {
  EXPECT_EQ(csp_hash("abc"), "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
  EXPECT_EQ(csp_hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
}

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t begin = text.find(open) + open.size();
  return text.substr(begin, text.find(close, begin) - begin);
}

TEST(LivePage, ItsPolicyAllowsItsOneScriptAndItsOneStyle) {
  const std::string page = live_page(a_view(3, true), {*a_view(3).latest});
  const std::string policy = live_page_policy();
  EXPECT_NE(policy.find("script-src " + csp_hash(between(page, "<script>", "</script>"))),
            std::string::npos);
  EXPECT_NE(policy.find("style-src " + csp_hash(between(page, "<style>", "</style>"))),
            std::string::npos);
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("<script", page.find("<script") + 1), std::string::npos);
  EXPECT_EQ(page.find(" style="), std::string::npos) << "the policy would not apply it";
  EXPECT_EQ(page.find("src="), std::string::npos);
}

TEST(LivePage, NamesAreNoMarkup) {
  RunView view = a_view(2);
  view.title = {
      .name = "<script>alert(1)</script>", .folder = "<u>", .method = "<i>", .graph = "\"><img>"};
  view.peers[0].state.stage = PeerState::Stage::lost;
  view.peers[0].state.ending = "<img src=x onerror=alert(1)>";
  const std::string page = live_page(view, {});
  for (const char* markup : {"<script>alert", "<u>", "<i>", "<img"})
    EXPECT_EQ(page.find(markup), std::string::npos) << markup;
  EXPECT_NE(page.find("&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_NE(page.find("&lt;img src=x"), std::string::npos);
}

TEST(LivePage, PeersHaveBarsWhereTheirTimeIsKnown) {
  EXPECT_EQ(live_peers(a_view(2)).find("<svg"), std::string::npos);
  const std::string peers = live_peers(a_view(2, true));
  EXPECT_NE(peers.find("aria-label=\"compute 40 % mix 10 %"), std::string::npos) << peers;
  EXPECT_NE(peers.find("<title>compute 40 % mix 10 %"), std::string::npos) << "under the pointer";
  EXPECT_NE(peers.find("waited most for"), std::string::npos);
  EXPECT_NE(peers.find("<td>peer 1, 2.0 s</td>"), std::string::npos) << peers;
}

/// A run that ends by time once had no bar.
TEST(LivePage, HasABarOfTheEndThatComesFirst) {
  RunView view = a_view(2);
  EXPECT_NE(live_head(view).find("<progress max=\"1\" value=\"0.4000\">"), std::string::npos);
  view.title.stop_seconds = 20;
  EXPECT_NE(live_head(view).find("value=\"0.5000\""), std::string::npos) << live_head(view);
  EXPECT_NE(live_head(view).find("<b>10.0 s</b>left"), std::string::npos) << live_head(view);
  view.rounds.reset();
  EXPECT_NE(live_head(view).find("value=\"0.5000\""), std::string::npos);
  EXPECT_EQ(parse_view(parse_json(json_of(view).dump(), "view")).title.stop_seconds, 20);
  view.title.stop_seconds.reset();
  EXPECT_EQ(live_head(view).find("<progress"), std::string::npos) << "nobody knows its end";
}

TEST(LivePage, NamesWhoHoldsTheOthersUp) {
  RunView view = a_view(4, true);
  EXPECT_EQ(live_peers(view).find("holds the others up"), std::string::npos);
  for (PeerView& peer : view.peers) {
    const bool slow = peer.state.id == 2;
    peer.state.activities = ActivitySeconds{slow ? 9.0 : 2.0, 0, 0, slow ? 0.0 : 7.0, 0, 0, 0, 1};
    peer.state.waits = {{.peer = 2, .late = slow ? 0.0 : 7.0}};
    if (slow) peer.state.waits.clear();
  }
  const std::string peers = live_peers(view);
  EXPECT_NE(peers.find("peer 2 holds the others up"), std::string::npos) << peers;
  EXPECT_NE(peers.find("<br/>help: `grapevine bench speeds FILE`"), std::string::npos) << peers;
  EXPECT_LT(peers.find("holds the others up"), peers.find("<table")) << "it is seen first";
  view.title.own_shares = true;
  EXPECT_EQ(live_peers(view).find("help: "), std::string::npos)
      << "each peer has its share already";
}

TEST(LivePage, SaysWhatActorsAndMemoriesDo) {
  RunView view = a_view(2);
  EXPECT_EQ(live_head(view).find("actors"), std::string::npos);
  view.latest->frames = 9000;
  view.latest->samples_per_insert = 15.96;
  view.latest->memory = 20'000;
  view.latest->actors = 8;
  const std::string head = live_head(view);
  for (const char* figure :
       {"<b>8</b>actors alive", "<b>20000</b>transitions kept", "<b>15.96</b>samples a transition"})
    EXPECT_NE(head.find(figure), std::string::npos) << figure << "\n" << head;
}

/// The policy forbids other scripts, so that values under the pointer are titles.
TEST(LiveFigures, TellTheirValuesUnderThePointer) {
  std::vector<MetricsRow> curve(200, *a_view(1).latest);
  for (std::size_t k = 0; k < curve.size(); ++k) curve[k].round = 10 * k;
  const std::string figures = live_figures(curve);
  EXPECT_NE(figures.find("<title>mean model, round 1990: 0.331</title>"), std::string::npos);
  EXPECT_EQ(figures.find("<title>mean model, round 10: "), std::string::npos)
      << "no more than some sixty a line";
}

TEST(LiveFigures, StandWhatIsNotFiniteAndWhatIsOne) {
  EXPECT_NE(live_figures({}).find("No evaluation yet"), std::string::npos);
  MetricsRow row = *a_view(1).latest;
  EXPECT_EQ(live_figures({row}).find("nan"), std::string::npos);
  MetricsRow broken = row;
  broken.round = 200;
  broken.loss = NAN;
  broken.loss_local = INFINITY;
  broken.consensus = 0;
  const std::string figures = live_figures({row, broken});
  EXPECT_NE(figures.find("<svg"), std::string::npos);
  for (const char* bad : {"points=\"nan", ",nan", "inf,", ",inf", "\"inf", "\"nan"})
    EXPECT_EQ(figures.find(bad), std::string::npos) << bad;
  MetricsRow regression = row;
  regression.accuracy = regression.accuracy_min = regression.accuracy_max = std::nullopt;
  EXPECT_EQ(live_figures({regression}).find("accuracy"), std::string::npos);
}

}  // namespace
}  // namespace gv

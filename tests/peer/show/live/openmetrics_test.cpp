#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "peer/show/live/observed_run.h"
#include "tests/peer/show/live/views.h"

namespace gv {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(OpenMetrics, SaysWhatIsKnown) {
  const std::string text = metrics_text(a_view(2, true), MetricsFormat::prometheus);
  for (const char* line :
       {"# TYPE grapevine_round gauge", "grapevine_round 120", "grapevine_loss 0.331",
        "grapevine_accuracy_ratio 0.884", "grapevine_consensus_distance 0.058",
        "# TYPE grapevine_sent_bytes_total counter",
        "grapevine_sent_bytes_total{peer=\"1\"} 2000000", "grapevine_peer_up{peer=\"0\"} 1",
        "grapevine_state_seconds_total{peer=\"0\",state=\"compute\"} 4",
        "grapevine_state_seconds_total{peer=\"1\",state=\"wire\"} 1.5",
        "grapevine_wait_seconds_total{peer=\"0\",neighbor=\"1\",state=\"late\"} "
        "0.5"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(OpenMetrics, SaysWhatAgentsDo) {
  RunView view = a_view(2);
  view.latest->loss = -331;
  view.latest->loss_local = -320;
  view.latest->frames = 250'000;
  view.latest->memory = 20'000;
  view.latest->actors = 8;
  const auto text = [&view] { return metrics_text(view, MetricsFormat::prometheus); };
  for (const char* line : {"grapevine_return 331", "grapevine_local_return 320",
                           "# TYPE grapevine_frames_total counter", "grapevine_frames_total 250000",
                           "grapevine_memory_transitions 20000", "grapevine_actors_alive 8"})
    EXPECT_TRUE(has_line(text(), line)) << line << "\n" << text();
  EXPECT_EQ(text().find("samples_per_insert"), std::string::npos) << "not before the warm-up's end";
  view.latest->samples_per_insert = 15.5;
  EXPECT_TRUE(has_line(text(), "grapevine_samples_per_insert 15.5"));
  const std::string other = metrics_text(a_view(2), MetricsFormat::prometheus);
  for (const char* family : {"grapevine_return", "grapevine_frames", "grapevine_actors"})
    EXPECT_EQ(other.find(family), std::string::npos) << family;
}

TEST(OpenMetrics, LeavesOutWhatIsNot) {
  RunView view = a_view(2);
  view.latest.reset();
  view.peers[0].state.sent_bytes.reset();
  const std::string text = metrics_text(view, MetricsFormat::prometheus);
  EXPECT_EQ(text.find("grapevine_loss"), std::string::npos);
  EXPECT_EQ(text.find("state_seconds"), std::string::npos);
  EXPECT_EQ(text.find("sent_bytes_total{peer=\"0\"}"), std::string::npos);
  EXPECT_TRUE(has_line(text, "grapevine_sent_bytes_total{peer=\"1\"} 2000000"));
}

TEST(OpenMetrics, EdgesAreOfSmallFleets) {
  EXPECT_NE(metrics_text(a_view(64, true), MetricsFormat::prometheus).find("wait_seconds"),
            std::string::npos);
  EXPECT_EQ(metrics_text(a_view(65, true), MetricsFormat::prometheus).find("wait_seconds"),
            std::string::npos);
}

/// Each family has one head before its samples, and counters end with _total. OpenMetrics names the
/// family without that suffix and ends with # EOF.
TEST(OpenMetrics, BothFormatsKeepTheirGrammar) {
  for (const MetricsFormat format : {MetricsFormat::prometheus, MetricsFormat::openmetrics}) {
    const bool open = format == MetricsFormat::openmetrics;
    RunView view = a_view(3, true);
    view.latest->frames = 1000;
    view.latest->actors = 8;
    std::istringstream in(metrics_text(view, format));
    std::map<std::string, std::string> types;
    std::set<std::string> closed;
    std::string current;
    std::string last;
    for (std::string line; std::getline(in, line); last = line) {
      if (line.starts_with("# TYPE ")) {
        std::istringstream words(line.substr(7));
        std::string name, type;
        words >> name >> type;
        EXPECT_TRUE(types.emplace(name, type).second) << name << " twice";
        EXPECT_EQ(open && type == "counter",
                  open && !name.ends_with("_total") && type == "counter");
        current = name + (open && type == "counter" ? "_total"
                          : open && type == "info"  ? "_info"
                                                    : "");
        EXPECT_EQ(type == "counter", current.ends_with("_total")) << line;
      } else if (!line.starts_with("#")) {
        EXPECT_EQ(line.substr(0, line.find_first_of("{ ")), current) << line;
      }
    }
    EXPECT_EQ(last == "# EOF", open);
  }
}

TEST(OpenMetrics, LabelsAreEscaped) {
  RunView view = a_view(1);
  view.title.name = "a\"b\\c\nd\x01";
  const std::string text = metrics_text(view, MetricsFormat::prometheus);
  EXPECT_NE(text.find(R"(run="a\"b\\c d?")"), std::string::npos) << text;
}

TEST(OpenMetrics, IsChosenByWhatTheScraperAccepts) {
  EXPECT_EQ(metrics_format("text/plain"), MetricsFormat::prometheus);
  EXPECT_EQ(metrics_format(""), MetricsFormat::prometheus);
  EXPECT_EQ(metrics_format("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            MetricsFormat::openmetrics);
}

}  // namespace
}  // namespace gv

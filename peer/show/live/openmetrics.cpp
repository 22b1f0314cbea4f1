#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/record/report/metrics.h"
#include "peer/show/live/observed_run.h"

namespace gv {
namespace {

constexpr std::size_t most_peers_with_edges = 64;

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : printable(value, 512)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// Writes a number as both formats require it; whole numbers without an exponent.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

class Text {
 public:
  explicit Text(MetricsFormat format) : open_(format == MetricsFormat::openmetrics) {}

  /// Begins a family, which is left out without samples. Takes the name without `_total`.
  /// OpenMetrics writes that, the older format the samples' name.
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    const bool counter = type == "counter";
    sample_ = counter ? name_ + "_total" : type == "info" ? name_ + "_info" : name_;
    const std::string& head = open_ ? name_ : sample_;
    const std::string_view kind = !open_ && type == "info" ? "gauge" : type;
    head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", head, help, head, kind);
  }
  void sample(double value, const std::string& labels = {}) {
    text_ += std::exchange(head_, "");
    text_ += fmt::format("{}{} {}\n", sample_, labels.empty() ? "" : fmt::format("{{{}}}", labels),
                         number(value));
  }
  std::string take() { return open_ ? text_ + "# EOF\n" : text_; }

 private:
  bool open_;
  std::string name_, sample_, head_, text_;
};

void add_run(Text& text, const RunView& view) {
  text.family("grapevine_run", "info", "Name, method and graph of the run.");
  text.sample(1, fmt::format("run=\"{}\",method=\"{}\",graph=\"{}\"", escaped(view.title.name),
                             escaped(view.title.method), escaped(view.title.graph)));
  text.family("grapevine_training", "gauge", "1 while peers train.");
  text.sample(view.phase == FleetState::Phase::training ? 1 : 0);
  text.family("grapevine_round", "gauge", "Rounds that the slowest peer has completed.");
  text.sample(static_cast<double>(view.round));
  if (view.rounds) {
    text.family("grapevine_rounds", "gauge", "Rounds of the whole run.");
    text.sample(static_cast<double>(*view.rounds));
  }
  text.family("grapevine_seconds", "gauge", "Seconds since training began.");
  text.sample(view.seconds);
  text.family("grapevine_peers_alive", "gauge", "Peers whose process runs or has finished.");
  text.sample(static_cast<double>(view.alive()));
}

void add_evaluation(Text& text, const MetricsRow& row) {
  constexpr std::string_view total = "_total";
  const std::string_view set = row.validated ? "Validation" : "Test";
  for (const RunFigure& figure : figures()) {
    const std::optional<double> value = figure.of(row);
    if (!value || figure.metric.empty()) continue;
    const bool counts = figure.metric.ends_with(total);
    const std::string_view name =
        figure.metric.substr(0, figure.metric.size() - (counts ? total.size() : 0));
    text.family(fmt::format("grapevine_{}", name), counts ? "counter" : "gauge",
                fmt::format(fmt::runtime(figure.help), set));
    text.sample(*value);
  }
}

std::string peer_label(const PeerView& peer) {
  return fmt::format("peer=\"{}\"", peer.state.id);
}

using Value = std::function<std::optional<double>(const PeerView&)>;

void add_peers(Text& text, const RunView& view) {
  using Stage = PeerState::Stage;
  // Peers without the value are left out.
  const auto add = [&](const char* name, const char* type, const char* help, const Value& value) {
    text.family(name, type, help);
    for (const PeerView& peer : view.peers)
      if (const auto v = value(peer)) text.sample(*v, peer_label(peer));
  };
  add("grapevine_peer_up", "gauge", "1 while the process runs.", [](auto& p) {
    const Stage s = p.state.stage;
    return s == Stage::starting || s == Stage::training || s == Stage::stopped ? 1.0 : 0.0;
  });
  add("grapevine_peer_round", "gauge", "Rounds completed.", [](auto& p) { return p.state.round; });
  add("grapevine_peer_lag_rounds", "gauge",
      "Number of rounds that the peer lags the one that is furthest ahead.",
      [](auto& p) { return p.lag; });
  add("grapevine_peer_restarts", "counter", "Times started again.",
      [](auto& p) { return p.state.restarts; });
  add("grapevine_staleness_rounds", "gauge",
      "Age in rounds of the oldest message that a peer took recently.",
      [](auto& p) { return p.state.staleness; });
  add("grapevine_queue_messages", "gauge",
      "Maximum number of messages that recently waited for a peer.",
      [](auto& p) { return p.state.queue; });
  add("grapevine_sent_bytes", "counter", "Sent on the wire.",
      [](auto& p) { return p.state.sent_bytes; });
  add("grapevine_cpu_seconds", "counter", "CPU time used.", [](auto& p) { return p.cpu_seconds; });
  add("grapevine_resident_memory_bytes", "gauge", "Resident memory.",
      [](auto& p) { return p.memory_bytes; });
}

void add_activities(Text& text, const RunView& view) {
  text.family("grapevine_state_seconds", "counter", "Where a peer's time went, by state.");
  for (const PeerView& peer : view.peers) {
    if (!peer.state.activities) continue;
    for (std::size_t k = 0; k < activities; ++k)
      text.sample((*peer.state.activities)[k],
                  fmt::format("{},state=\"{}\"", peer_label(peer), activity_names[k]));
  }
}

void add_waits(Text& text, const RunView& view) {
  if (view.peers.size() > most_peers_with_edges) return;
  text.family("grapevine_wait_seconds", "counter", "Waited for a neighbour, by cause.");
  for (const PeerView& peer : view.peers) {
    for (const NeighborWait& wait : peer.state.waits) {
      const std::string edge = fmt::format("{},neighbor=\"{}\"", peer_label(peer), wait.peer);
      text.sample(wait.late, edge + ",state=\"late\"");
      text.sample(wait.wire, edge + ",state=\"wire\"");
    }
  }
}

}  // namespace

MetricsFormat metrics_format(std::string_view accept) {
  return accept.find("application/openmetrics-text") == std::string_view::npos
             ? MetricsFormat::prometheus
             : MetricsFormat::openmetrics;
}

std::string_view content_type(MetricsFormat format) {
  return format == MetricsFormat::openmetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string metrics_text(const RunView& view, MetricsFormat format) {
  Text text(format);
  add_run(text, view);
  if (view.latest) add_evaluation(text, *view.latest);
  add_peers(text, view);
  add_activities(text, view);
  add_waits(text, view);
  return text.take();
}

}  // namespace gv

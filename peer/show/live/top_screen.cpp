#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "optim/mapped.h"
#include "optim/printable.h"
#include "peer/record/report/screen.h"
#include "peer/record/watch/hold_ups.h"
#include "peer/show/live/observed_run.h"
#include "peer/show/page/page_style.h"

namespace gv {
namespace {

constexpr std::size_t bar_columns = 22;
constexpr std::array<std::string_view, activities> bar_marks{"▓", "▒", "▚", "·",
                                                             "░", "e", "s", " "};

/// Joins the parts with two spaces, as many parts as fit.
std::string joined(const std::vector<std::string>& parts, std::size_t columns) {
  std::string line;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    const std::string longer = line.empty() ? part : line + "  " + part;
    if (columns_of(longer) > columns) break;
    line = longer;
  }
  return line;
}

std::string title_line(const RunView& view, std::size_t columns) {
  const bool trains = view.phase == FleetState::Phase::training;
  const std::string round = view.rounds ? fmt::format("round {}/{}", view.round, *view.rounds)
                                        : fmt::format("round {}", view.round);
  const std::optional<double> seconds = view.seconds_left();
  const std::string left = seconds && *seconds > 0 ? seconds_text(*seconds) + " left" : "";
  return joined({printable(view.title.name, 30), trains ? "" : std::string(word_of(view.phase)),
                 round, fmt::format("{:.3g} rounds/s", view.rate),
                 fmt::format("{}/{} peers", view.alive(), view.peers.size()), left},
                columns);
}

/// The line of a fleet of agents: losses are minus the returns, so the signs are turned.
std::string agents_line(const MetricsRow& row, std::vector<double> losses, std::size_t columns) {
  for (double& loss : losses) loss = -loss;
  std::string acting;
  if (row.actors) acting = fmt::format("{:.0f} actors", *row.actors);
  if (row.samples_per_insert)
    acting += fmt::format(", {:.4g} samples a transition", *row.samples_per_insert);
  return joined({fmt::format("return {:.4g}, {:.4g} local", -row.loss, -row.loss_local),
                 fmt::format("{:.0f} frames", *row.frames), acting,
                 fmt::format("consensus {:.2e}", row.consensus), sparkline(losses)},
                columns);
}

std::string model_line(const RunView& view, std::size_t columns) {
  if (!view.latest) return "no evaluation yet";
  const MetricsRow& row = *view.latest;
  if (row.frames) return agents_line(row, view.losses, columns);
  std::string accuracy;
  if (row.accuracy) accuracy = fmt::format("accuracy {:.4f}", *row.accuracy);
  if (row.accuracy_min) accuracy += fmt::format(" worst {:.4f}", *row.accuracy_min);
  return joined({fmt::format("{}loss {:.4g}", row.validated ? "validation: " : "", row.loss),
                 accuracy, fmt::format("consensus {:.2e}", row.consensus), sparkline(view.losses)},
                columns);
}

/// The shares of a peer's time as marks.
std::string bar(const ActivitySeconds& seconds) {
  const double all = sum(seconds);
  std::string out;
  double done = 0;
  std::size_t drawn = 0;
  for (std::size_t k = 0; k < activities; ++k) {
    done += seconds[k];
    const auto end =
        static_cast<std::size_t>(std::lround(bar_columns * done / std::max(all, 1e-9)));
    for (; drawn < std::min(end, bar_columns); ++drawn) out += bar_marks[k];
  }
  for (; drawn < bar_columns; ++drawn) out += ' ';
  return out;
}

std::string waits_for(const PeerState& peer) {
  const auto longest = std::ranges::max_element(
      peer.waits, {}, [](const NeighborWait& w) { return w.late + w.wire; });
  if (longest == peer.waits.end()) return "-";
  return fmt::format("{} {}", longest->peer, seconds_text(longest->late + longest->wire));
}

std::string state_text(const PeerState& peer) {
  std::string text(peer.ending.empty() ? word_of(peer.stage) : std::string_view(peer.ending));
  if (peer.restarts > 0) text += fmt::format(" ({}x again)", peer.restarts);
  return printable(text, 20);
}

std::string percent(const std::optional<double>& share) {
  return share ? fmt::format("{:.0f} %", 100 * *share) : "-";
}

template <class Value>
std::string bytes_or_dash(const std::optional<Value>& bytes, const char* unit = "") {
  return bytes ? bytes_text(static_cast<double>(*bytes)) + unit : "-";
}

std::string head(bool activities) {
  const std::string front =
      fmt::format("{:>5} {:>8} {:>6} {:>6}", "peer", "round", "behind", "CPU");
  return activities
             ? fmt::format("{} {:>11}  {}  {}", front, "out", "▓comp ▒mix ░wire ·late",
                           "waited for")
             : fmt::format("{} {:>9} {:>9} {:>11}  {}", front, "memory", "sent", "out", "state");
}

std::string peer_line(const PeerView& peer, bool activities) {
  const PeerState& p = peer.state;
  const std::string front =
      fmt::format("{:>5} {:>8} {:>6} {:>6}", p.id, p.round, peer.lag, percent(peer.cpu_share));
  const std::string out = bytes_or_dash(peer.out_rate, "/s");
  if (!activities)
    return fmt::format("{} {:>9} {:>9} {:>11}  {}", front, bytes_or_dash(peer.memory_bytes),
                       bytes_or_dash(p.sent_bytes), out, state_text(p));
  const bool trains = p.stage == PeerState::Stage::training;
  if (!trains || !p.activities) return fmt::format("{} {:>11}  {}", front, out, state_text(p));
  return fmt::format("{} {:>11}  {}  {}", front, out, bar(*p.activities), waits_for(p));
}

/// Chooses the most important peers if there are too few lines for all; sorts them by id.
std::vector<const PeerView*> chosen(const RunView& view, std::size_t most) {
  std::vector<const PeerView*> peers;
  for (const PeerView& peer : view.peers) peers.push_back(&peer);
  const auto trains = [](const PeerView* p) {
    return p->state.stage == PeerState::Stage::training;
  };
  std::ranges::stable_sort(peers, [&](const PeerView* a, const PeerView* b) {
    if (trains(a) != trains(b)) return trains(b);
    return a->lag > b->lag;
  });
  if (peers.size() > most) peers.resize(most);
  std::ranges::sort(peers, {}, [](const PeerView* p) { return p->state.id; });
  return peers;
}

}  // namespace

std::vector<Culprit> worst_culprits(const RunView& view) {
  constexpr std::size_t most = 3;
  std::vector<Culprit> found = culprits(times_of(mapped(view.peers, &PeerView::state), view.first));
  if (found.size() > most) found.resize(most);
  return found;
}

std::string sparkline(const std::vector<double>& values) {
  constexpr std::array<std::string_view, 8> heights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double low = INFINITY;
  double high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string line;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      line += '?';
    } else {
      const double share = high > low ? (value - low) / (high - low) : 0;
      line += heights[static_cast<std::size_t>(std::lround(7 * share))];
    }
  }
  return line;
}

std::string top_screen(const RunView& view, std::size_t columns, std::size_t lines) {
  const bool activities = view.has_activities();
  const std::vector<Culprit> hints = worst_culprits(view);
  const std::size_t taken = 3 + hints.size();
  std::size_t room = lines - std::min(lines, taken);
  if (view.peers.size() > room) room = std::max<std::size_t>(room, 2) - 1;
  const auto peers = chosen(view, room);
  std::vector<std::string> text{title_line(view, columns), model_line(view, columns),
                                head(activities)};
  for (const PeerView* const peer : peers) text.push_back(peer_line(*peer, activities));
  if (peers.size() < view.peers.size())
    text.push_back(
        fmt::format("and {} more peers, none with a larger lag", view.peers.size() - peers.size()));
  for (const Culprit& hint : hints) text.push_back("! " + short_text_of(hint, view.title.hosts));
  std::string out;
  for (const std::string& line : text) out += cut_to_columns(line, columns) + "\n";
  out.pop_back();
  return out;
}

}  // namespace gv

#include "peer/show/page/report_queue.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "peer/show/page/lines_figure.h"
#include "peer/show/page/unit.h"

namespace gv {
namespace {

constexpr std::size_t most_lines = 8;

/// Tells those that train from those that serve, which compute no gradient.
bool trains(const QueueRounds& peer) {
  return std::ranges::any_of(peer.rounds, [](const StoredRounds& row) {
    return row.states[static_cast<std::size_t>(Activity::compute)] > 0;
  });
}

double longest(const QueueRounds& peer) {
  double most = 0;
  for (const StoredRounds& row : peer.rounds) most = std::max(most, row.queue);
  return most;
}

/// A row's rounds count as long as they took.
double mean(const QueueRounds& peer) {
  double sum = 0, time = 0;
  for (std::size_t k = 0; k + 1 < peer.rounds.size(); ++k) {
    const double seconds = std::max(0.0, peer.rounds[k + 1].begin - peer.rounds[k].begin);
    sum += seconds * peer.rounds[k].queue;
    time += seconds;
  }
  return time > 0 ? sum / time : 0;
}

/// Steps, since each row says what its rounds had at the most.
PlotLine line_of(const QueueRounds& peer, std::size_t series, double first) {
  PlotLine line{.name = fmt::format("server {}", peer.peer), .series = series};
  for (std::size_t k = 0; k < peer.rounds.size(); ++k) {
    const StoredRounds& row = peer.rounds[k];
    if (!line.y.empty()) {
      line.x.push_back(row.begin - first);
      line.y.push_back(line.y.back());
    }
    line.x.push_back(row.begin - first);
    line.y.push_back(row.queue);
  }
  return line;
}

}  // namespace

Figure queue_figure(std::vector<QueueRounds> peers, const std::string& name) {
  Figure figure{.title = name.empty() ? "Messages that waited for the servers" : name};
  double first = std::numeric_limits<double>::infinity();
  for (const QueueRounds& peer : peers)
    for (const StoredRounds& row : peer.rounds) first = std::min(first, row.begin);
  std::erase_if(peers, [](const QueueRounds& peer) { return trains(peer) || longest(peer) <= 0; });
  if (peers.empty()) return figure;
  std::ranges::stable_sort(peers, std::ranges::greater(), mean);
  if (peers.size() > most_lines) {
    figure.note =
        fmt::format("The {} of {} servers with the longest queues.", most_lines, peers.size());
    peers.resize(most_lines);
  }
  std::ranges::sort(peers, {}, &QueueRounds::peer);
  LinePlot plot{
      .x_title = "time", .y_title = "messages, the most of a row", .x_is = Quantity::seconds};
  figure.numbers.heads = {"server", "longest queue", "mean over time of each row's longest"};
  for (std::size_t k = 0; k < peers.size(); ++k) {
    plot.lines.push_back(line_of(peers[k], k, first));
    figure.numbers.rows.push_back({fmt::format("{}", peers[k].peer),
                                   fmt::format("{:.0f}", longest(peers[k])),
                                   fmt::format("{:.2f}", mean(peers[k]))});
  }
  figure.picture = lines_figure(plot);
  return figure;
}

}  // namespace gv

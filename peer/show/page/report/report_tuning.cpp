#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/spec/parameters.h"
#include "optim/mapped.h"
#include "peer/record/runs/groups.h"
#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/report/report_sections.h"
#include "peer/study/compare/statistics.h"

namespace gv {
namespace {

using Keys = std::map<std::string, std::string>;

std::optional<double> number_of(const std::string& text) {
  const auto value = as_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string value_in(const Keys& keys, const std::string& key) {
  const auto at = keys.find(key);
  return at == keys.end() ? "" : at->second;
}

Keys identity(const StoredRun& run) {
  Keys keys;
  for (const auto& [key, value] : run.keys)
    if (tells_runs_apart(key)) keys.emplace(key, value);
  return keys;
}

std::string name_of(const StoredRun& run) {
  std::string name;
  for (const auto& [axis, label] : run.labels) name += (name.empty() ? "" : ", ") + label;
  return name.empty() ? run.algorithm : name;
}

/// Infinite for a run that missed the target, or whose loss is not finite: it ranks last.
double score_of(const StoredRun& run, const std::optional<CompareTarget>& target) {
  constexpr double missed = std::numeric_limits<double>::infinity();
  if (!target) {
    const MetricsRow& end = run.evaluations.back();
    if (!std::isfinite(end.loss)) return missed;
    return end.accuracy ? 1 - *end.accuracy : end.loss;
  }
  const auto cost = cost_of(run, *target);
  return cost ? cost->rounds : missed;
}

/// Returns the final figure, lower is better: it ranks runs that reached the target equally soon.
double end_of(const StoredRun& run, const std::optional<CompareTarget>& target) {
  if (!target) return 0;
  const double end = figure_of(run.evaluations.back(), *target).value_or(0);
  return target->figure == CompareTarget::Figure::accuracy ? -end : end;
}

std::string title_of(const StoredRun& run, const std::optional<CompareTarget>& target) {
  if (target) return "rounds to the target";
  return run.evaluations.back().accuracy ? "error at the end" : "loss at the end";
}

/// The trials of one method: the seeds of each point, by its keys.
using Points = std::map<Keys, std::vector<const StoredRun*>>;

/// Numeric keys that have more than one value in the points.
std::set<std::string> knobs_of(const Points& points) {
  std::set<std::string> knobs;
  for (const auto& [key, value] : points.begin()->first) {
    const auto numeric = [&](const auto& p) {
      return number_of(value_in(p.first, key)).has_value();
    };
    const auto same = [&](const auto& p) { return value_in(p.first, key) == value; };
    if (std::ranges::all_of(points, numeric) && !std::ranges::all_of(points, same))
      knobs.insert(key);
  }
  return knobs;
}

constexpr std::size_t most_lines = 8;

/// Distinguishes peers that train from servers, which compute no gradient.
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

/// The mean queue, each row of rounds weighted by its time.
double mean(const QueueRounds& peer) {
  double sum = 0, time = 0;
  for (std::size_t k = 0; k + 1 < peer.rounds.size(); ++k) {
    const double seconds = std::max(0.0, peer.rounds[k + 1].begin - peer.rounds[k].begin);
    sum += seconds * peer.rounds[k].queue;
    time += seconds;
  }
  return time > 0 ? sum / time : 0;
}

/// A step line, since each row has the maximum of its rounds.
PlotLine queue_line(const QueueRounds& peer, std::size_t series, double first) {
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

std::vector<Tuning> tunings_of(const std::vector<StoredRun>& tuned,
                               const std::optional<CompareTarget>& target) {
  std::map<std::string, Points> methods;
  for (const StoredRun& run : tuned) methods[name_of(run)][identity(run)].push_back(&run);
  std::vector<Tuning> tunings;
  for (const auto& [method, points] : methods) {
    for (const std::string& knob : knobs_of(points)) {
      Tuning tuning{.method = method,
                    .knob = knob,
                    .score_title = title_of(*points.begin()->second.front(), target),
                    .trials = {},
                    .labels = points.begin()->second.front()->labels,
                    .series = tunings.size()};
      for (const auto& [keys, seeds] : points) {
        const auto median = [&](auto figure) {
          return middle(mapped(seeds, [&](const StoredRun* run) { return figure(*run, target); }));
        };
        const double score = median(score_of);
        TuningTrial trial{*number_of(value_in(keys, knob)),
                          {},
                          fmt::format("{} seed{}", seeds.size(), seeds.size() == 1 ? "" : "s"),
                          median(end_of)};
        if (std::isfinite(score)) trial.score = score;
        tuning.trials.push_back(trial);
      }
      tunings.push_back(tuning);
    }
  }
  return tunings;
}

void share_colours(std::vector<Tuning>& tunings, const std::vector<GroupRow>& rows) {
  for (Tuning& tuning : tunings)
    for (const GroupRow& row : rows)
      for (const GroupView& view : row.groups)
        if (!tuning.labels.empty() &&
            std::ranges::includes(view.group().runs.front()->labels, tuning.labels))
          tuning.series = view.series;
}

std::vector<Figure> tuning_figures(const std::vector<Tuning>& tunings) {
  std::vector<Figure> figures;
  for (const Tuning& t : tunings) {
    DataTable table{{t.knob, t.score_title, "trials"}, {}};
    std::vector<TuningTrial> trials = t.trials;
    std::ranges::sort(trials, {}, &TuningTrial::value);
    for (const TuningTrial& trial : trials)
      table.rows.push_back({fmt::format("{:.5g}", trial.value),
                            trial.score ? fmt::format("{:.5g}", *trial.score) : "missed",
                            trial.note});
    figures.push_back({.title = t.method,
                       .note = fmt::format("{} points tried", trials.size()),
                       .picture = tuning_figure(t),
                       .numbers = table,
                       .wide = false});
  }
  return figures;
}

Figure queue_figure(std::vector<QueueRounds> peers, const std::string& name, std::size_t series) {
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
    plot.lines.push_back(queue_line(peers[k], peers.size() == 1 ? series : k, first));
    figure.numbers.rows.push_back({fmt::format("{}", peers[k].peer),
                                   fmt::format("{:.0f}", longest(peers[k])),
                                   fmt::format("{:.2f}", mean(peers[k]))});
  }
  figure.picture = lines_figure(plot);
  return figure;
}

}  // namespace gv

#include "peer/study/compare/first_map.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/workers.h"
#include "peer/record/report/console.h"
#include "peer/study/compare/comparison_text.h"

namespace gv {
namespace {

/// Two methods within this ratio count as close on the map.
constexpr double close_ratio = 1.05;
/// Bisection stops when two networks are within this ratio.
constexpr double change_ratio = 1.01;
/// Maximum number of changes between two neighbouring networks of the grid.
constexpr int most_changes = 8;

std::vector<double> ladder(double first, int count) {
  std::vector<double> steps;
  constexpr double digits[] = {1, 2, 5};
  int k = first == 5 ? 2 : 0;
  for (double size = 1; static_cast<int>(steps.size()) < count; ++k) {
    if (k == 3) {
      k = 0;
      size *= 10;
    }
    steps.push_back(digits[k] * size);
  }
  return steps;
}

/// Returns whether `at` is the value of the axis nearest to `value`, by ratio. `least` and `most`:
/// whether values far below or above the axis count at its ends.
bool is_nearest(const std::vector<double>& axis, double at, double value, bool least, bool most) {
  const double border = std::sqrt(axis[1] / axis[0]);
  if (!least && value * border < axis.front()) return false;
  if (!most && value > axis.back() * border) return false;
  const double inside = std::clamp(value, axis.front(), axis.back());
  return *std::ranges::min_element(
             axis, {}, [inside](double a) { return std::abs(std::log(a / inside)); }) == at;
}

class MapDrawer {
 public:
  explicit MapDrawer(FirstMap& map) : map_(map) {}

  void fill(MapCell& cell) const {
    for (std::size_t m = 0; m < map_.methods.size(); ++m) cell.seconds.push_back(known(m, cell.at));
    choose(cell);
  }

  /// Returns the changes between two networks that differ in one property, of which `low` has less.
  std::vector<MapChange> between(const MapCell& low, const MapCell& high) const {
    std::vector<MapChange> changes;
    const bool along_bandwidth = low.at.latency == high.at.latency;
    const std::size_t last = first_of(high.seconds);
    std::size_t now = first_of(low.seconds);
    MapPlace from = low.at;
    for (int k = 0; k < most_changes && now != last; ++k) {
      MapPlace below = from;
      MapPlace above = high.at;
      while (ratio(below, above) > change_ratio) {
        const MapPlace middle{std::sqrt(below.latency * above.latency),
                              std::sqrt(below.bandwidth * above.bandwidth)};
        (first_at(middle) == now ? below : above) = middle;
      }
      changes.push_back(
          {{std::sqrt(below.latency * above.latency), std::sqrt(below.bandwidth * above.bandwidth)},
           along_bandwidth,
           now,
           first_at(above)});
      now = changes.back().after;
      from = above;
    }
    return changes;
  }

 private:
  static double ratio(const MapPlace& a, const MapPlace& b) {
    return std::max(b.latency / a.latency, b.bandwidth / a.bandwidth);
  }

  std::optional<double> known(std::size_t m, const MapPlace& at) const {
    const MapMethod& method = map_.methods[m];
    if (method.seconds_per_round) return method.rounds * method.seconds_per_round(at);
    const auto here = [&](const MapPlace& place) {
      return is_nearest(map_.latencies, at.latency, place.latency, true, false) &&
             is_nearest(map_.bandwidths, at.bandwidth, place.bandwidth, false, true);
    };
    for (const MapMethod::Trained& trained : method.trained)
      if (here(trained.at)) return trained.seconds;
    return std::nullopt;
  }

  static void choose(MapCell& cell) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t m = 0; m < cell.seconds.size(); ++m) {
      cell.whole = cell.whole && cell.seconds[m].has_value();
      if (!cell.seconds[m] || *cell.seconds[m] >= best) continue;
      best = *cell.seconds[m];
      cell.first = m;
    }
    double second = std::numeric_limits<double>::infinity();
    for (std::size_t m = 0; m < cell.seconds.size(); ++m) {
      if (m == cell.first || !cell.seconds[m] || *cell.seconds[m] >= second) continue;
      second = *cell.seconds[m];
      if (second <= close_ratio * best) cell.close = m;
    }
  }

  /// Returns the fastest of the methods that have a clock.
  std::size_t first_of(const std::vector<std::optional<double>>& seconds) const {
    double best = std::numeric_limits<double>::infinity();
    std::size_t first = 0;
    for (std::size_t m = 0; m < seconds.size(); ++m) {
      if (!map_.methods[m].seconds_per_round || seconds[m].value() >= best) continue;
      best = *seconds[m];
      first = m;
    }
    return first;
  }

  std::size_t first_at(const MapPlace& at) const {
    std::vector<std::optional<double>> seconds;
    for (const MapMethod& method : map_.methods)
      seconds.push_back(method.seconds_per_round
                            ? std::optional(method.rounds * method.seconds_per_round(at))
                            : std::nullopt);
    return first_of(seconds);
  }

  const FirstMap& map_;
};

/// Pieces of workers must not throw, so the first exception is caught and rethrown here.
void run_all(Workers& workers,
             std::size_t from,
             std::size_t count,
             const std::function<void(std::size_t)>& piece) {
  std::mutex lock;
  std::exception_ptr failed;
  workers.run(count, [&](std::size_t k) {
    try {
      piece(from + k);
    } catch (...) {
      const std::lock_guard hold(lock);
      if (!failed) failed = std::current_exception();
    }
  });
  if (failed) std::rethrow_exception(failed);
}

constexpr std::size_t first_column = 8, cell_width = 6;

std::string rounds_text(const MapMethod& method) {
  std::string text = fmt::format("{:.0f} rounds", method.rounds);
  if (method.low) text += fmt::format(" ({:.0f} .. {:.0f})", *method.low, *method.high);
  return text;
}

/// "O", or "O=A" if A takes at most 5 % longer; in lower case if a method is not known there.
std::string cell_letters(const MapCell& cell, const std::vector<char>& letters) {
  std::string text(1, letters[cell.first]);
  if (cell.close) text += std::string("=") + letters[*cell.close];
  if (!cell.whole) text.front() = static_cast<char>(std::tolower(text.front()));
  return text;
}

bool all_whole(const FirstMap& map) {
  return std::ranges::all_of(map.cells, &MapCell::whole);
}

bool any_close(const FirstMap& map) {
  return std::ranges::any_of(map.cells, [](const MapCell& c) { return c.close.has_value(); });
}

std::string unknown_text(const FirstMap& map) {
  std::vector<std::string> names;
  for (const MapMethod& method : map.methods)
    if (!method.seconds_per_round) names.push_back(method.label);
  return fmt::format("{}: known only where trained", fmt::join(names, ", "));
}

/// Returns the changes of the first method for each line of the grid: "5 ms: D, A from 271 Mbit
/// on".
std::vector<std::string> change_sentences(const FirstMap& map, const std::vector<char>& letters) {
  std::vector<std::string> all;
  const bool along_bandwidth =
      std::ranges::any_of(map.changes, [](const MapChange& c) { return c.along_bandwidth; });
  const MapChange* last = nullptr;
  for (const MapChange& c : map.changes) {
    if (c.along_bandwidth != along_bandwidth) continue;
    const auto line_of = [=](const MapPlace& at) {
      return along_bandwidth ? at.latency : at.bandwidth;
    };
    if (last == nullptr || line_of(last->at) != line_of(c.at))
      all.push_back(
          fmt::format("{}: {}",
                      along_bandwidth ? latency_text(c.at.latency) : bandwidth_text(c.at.bandwidth),
                      letters[c.before]));
    all.back() +=
        fmt::format(", {} from {} on",
                    letters[c.after],
                    along_bandwidth ? bandwidth_text(c.at.bandwidth) : latency_text(c.at.latency));
    last = &c;
  }
  return all;
}

std::string heading(const FirstMap& map) {
  return map.name.empty() ? map.about : fmt::format("{}; {}", map.name, map.about);
}

Json place_json(const MapPlace& at) {
  return {{"latency", at.latency},
          {"bandwidth", std::isfinite(at.bandwidth) ? Json(at.bandwidth) : Json()}};
}

Json cell_json(const MapCell& cell) {
  Json seconds = Json::array();
  for (const auto& value : cell.seconds) seconds.push_back(Json(value));
  Json json = place_json(cell.at);
  json["first"] = cell.first;
  json["close"] = cell.close ? Json(*cell.close) : Json();
  json["whole"] = cell.whole;
  json["seconds"] = seconds;
  return json;
}

}  // namespace

std::vector<double> map_latencies() {
  std::vector<double> all = ladder(1, 12);
  for (double& value : all) value *= 1e-5;
  return all;
}

std::vector<double> map_bandwidths() {
  std::vector<double> all = ladder(5, 12);
  for (double& value : all) value *= 1e6 / 8;
  return all;
}

FirstMap draw_first_map(std::vector<MapMethod> methods,
                        const std::vector<double>& latencies,
                        const std::vector<double>& bandwidths,
                        int threads,
                        const std::function<void(std::size_t, std::size_t)>& on_progress) {
  if (std::ranges::none_of(methods, [](const MapMethod& m) { return bool(m.seconds_per_round); }))
    throw std::invalid_argument("a map needs a method whose rounds do not depend on the network");
  FirstMap map;
  map.methods = std::move(methods);
  map.latencies = latencies;
  map.bandwidths = bandwidths;
  for (const double latency : latencies)
    for (const double bandwidth : bandwidths) map.cells.push_back({.at = {latency, bandwidth}});
  // Steps between neighbouring networks of the grid, along the bandwidth and then the latency.
  const std::size_t columns = bandwidths.size();
  std::vector<std::pair<std::size_t, std::size_t>> steps;
  for (std::size_t i = 0; i < map.cells.size(); ++i)
    if ((i + 1) % columns != 0) steps.emplace_back(i, i + 1);
  for (std::size_t i = 0; i + columns < map.cells.size(); ++i) steps.emplace_back(i, i + columns);
  const MapDrawer drawer(map);
  Workers workers(threads);
  const std::size_t all = map.cells.size() + steps.size();
  std::vector<std::vector<MapChange>> changes(steps.size());
  for (std::size_t done = 0; done < all; done += columns) {
    if (on_progress) on_progress(done, all);
    run_all(workers, done, std::min(columns, all - done), [&](std::size_t k) {
      if (k < map.cells.size()) return drawer.fill(map.cells[k]);
      const auto& [a, b] = steps[k - map.cells.size()];
      changes[k - map.cells.size()] = drawer.between(map.cells[a], map.cells[b]);
    });
  }
  for (const std::vector<MapChange>& some : changes)
    map.changes.insert(map.changes.end(), some.begin(), some.end());
  return map;
}

std::string latency_text(double seconds) {
  return fmt::format("{:.3g} ms", seconds * 1e3);
}

std::string bandwidth_text(double bytes_per_second) {
  if (!std::isfinite(bytes_per_second)) return "unlimited";
  const double mbit = bytes_per_second * 8 / 1e6;
  return mbit < 999.5 ? fmt::format("{:.3g} Mbit", mbit) : fmt::format("{:.3g} Gbit", mbit / 1000);
}

std::vector<char> map_letters(const std::vector<MapMethod>& methods) {
  std::vector<char> letters;
  for (const MapMethod& method : methods) {
    std::string wanted = method.label + "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::ranges::transform(
        wanted, wanted.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const auto free = std::ranges::find_if(wanted, [&](char c) {
      return c >= 'A' && c <= 'Z' && std::ranges::find(letters, c) == letters.end();
    });
    letters.push_back(free == wanted.end() ? '?' : *free);
  }
  return letters;
}

std::string map_text(const FirstMap& map) {
  const std::vector<char> letters = map_letters(map.methods);
  std::string text = wrapped(heading(map), 2) + "\n";
  for (std::size_t m = 0; m < map.methods.size(); ++m)
    text += fmt::format(
        "{} {:.50}  {}\n", letters[m], map.methods[m].label, rounds_text(map.methods[m]));
  if (any_close(map)) text += "= the other takes at most 5 % longer\n";
  if (!all_whole(map)) text += wrapped("small letters: " + unknown_text(map), 2) + "\n";
  // Mbit up to 500, then Gbit: only the first column of a unit names it.
  text.append("\n").append(left("latency", first_column));
  std::string unit;
  for (const double bandwidth : map.bandwidths) {
    const std::string whole = bandwidth_text(bandwidth);
    const std::size_t space = whole.find(' ');
    const std::string now = whole.substr(space + 1);
    text += right(now == unit ? whole.substr(0, space) : whole.substr(0, space) + now.substr(0, 1),
                  cell_width);
    unit = now;
  }
  text += "\n";
  for (std::size_t i = 0; i < map.latencies.size(); ++i) {
    text += left(latency_text(map.latencies[i]), first_column);
    for (std::size_t k = 0; k < map.bandwidths.size(); ++k)
      text += right(cell_letters(map.cell(i, k), letters), cell_width);
    text += "\n";
  }
  if (!map.changes.empty()) text += "\n";
  for (const std::string& sentence : change_sentences(map, letters))
    text += wrapped(sentence, 2) + "\n";
  for (const std::string& note : map.notes) text += wrapped(note, 2) + "\n";
  return text;
}

std::string map_markdown(const FirstMap& map) {
  const std::vector<char> letters = map_letters(map.methods);
  std::string text = heading(map) + ".\n\n";
  for (std::size_t m = 0; m < map.methods.size(); ++m)
    text += fmt::format(
        "- **{}** {}: {}\n", letters[m], map.methods[m].label, rounds_text(map.methods[m]));
  text += "\n| latency |";
  std::string line = "\n|---|";
  for (const double bandwidth : map.bandwidths) {
    text += fmt::format(" {} |", bandwidth_text(bandwidth));
    line += "---|";
  }
  text += line + "\n";
  for (std::size_t i = 0; i < map.latencies.size(); ++i) {
    text += fmt::format("| {} |", latency_text(map.latencies[i]));
    for (std::size_t k = 0; k < map.bandwidths.size(); ++k)
      text += fmt::format(" {} |", cell_letters(map.cell(i, k), letters));
    text += "\n";
  }
  text += "\n";
  if (any_close(map)) text += "`=`: the other takes at most 5 % longer.";
  if (!all_whole(map)) text += fmt::format(" Small letters: {}.", unknown_text(map));
  if (!text.ends_with("\n")) text += "\n\n";
  for (const std::string& sentence : change_sentences(map, letters)) text += "- " + sentence + "\n";
  for (const std::string& note : map.notes) text += "- " + note + "\n";
  return text;
}

Json map_json(const FirstMap& map) {
  Json methods = Json::array();
  for (const MapMethod& method : map.methods)
    methods.push_back(Json{{"name", method.label},
                           {"rounds", method.rounds},
                           {"low", method.low},
                           {"high", method.high},
                           {"everywhere", bool(method.seconds_per_round)}});
  Json cells = Json::array();
  for (const MapCell& cell : map.cells) cells.push_back(cell_json(cell));
  Json changes = Json::array();
  for (const MapChange& change : map.changes) {
    Json json = place_json(change.at);
    json["along"] = change.along_bandwidth ? "bandwidth" : "latency";
    json["before"] = change.before;
    json["after"] = change.after;
    changes.push_back(json);
  }
  Json runs = Json::array();
  for (const MapPlace& place : map.runs) runs.push_back(place_json(place));
  return {{"section", map.name},
          {"about", map.about},
          {"methods", methods},
          {"latencies", map.latencies},
          {"bandwidths", map.bandwidths},
          {"cells", cells},
          {"changes", changes},
          {"runs", runs},
          {"notes", map.notes}};
}

}  // namespace gv

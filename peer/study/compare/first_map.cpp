#include "peer/study/compare/first_map.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include "optim/workers.h"

namespace gv {
namespace {

/// Two methods that are so close are not told apart by eye.
constexpr double close_ratio = 1.05;
/// The ratio of two networks that are close enough to place a change between them.
constexpr double change_ratio = 1.01;
/// The most methods that may follow each other between two networks of the grid.
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

/// Returns whether this value of the grid is the nearest, by ratios. A value below all of them,
/// such as no latency, or above, is told by the caller: `least` and `most` say if it counts there.
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

  /// The changes between two networks that differ in one thing, `low` having less of it.
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

  /// Returns the first of those that have a clock.
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

/// Pieces must not throw: the first thing that went wrong is thrown here.
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
  // Lines of the grid between two of its networks, along the bandwidth and then the latency.
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

}  // namespace gv

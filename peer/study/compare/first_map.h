#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"

namespace gv {

/// A network, as the axes of a map have it.
struct MapPlace {
  double latency = 0;    ///< seconds, one way
  double bandwidth = 0;  ///< bytes per second; infinite where nothing limits it
};

/// A method that may be first somewhere.
struct MapMethod {
  std::string label;
  double rounds = 0;                ///< to the target, as measured; the geometric mean over seeds
  std::optional<double> low, high;  ///< of these
  /// Seconds of one round on a network, by the method's own clock. Null: the network decides what
  /// its rounds do (asynchronous methods), so it is known only where it was trained.
  std::function<double(const MapPlace&)> seconds_per_round;
  struct Trained {
    MapPlace at;
    double seconds = 0;  ///< to the target
  };
  std::vector<Trained> trained{};
};

/// A network of the grid: how long each method takes there to the target.
struct MapCell {
  MapPlace at;
  std::vector<std::optional<double>> seconds{};  ///< by method; nothing: not known here
  std::size_t first = 0;                         ///< of the methods
  std::optional<std::size_t> close{};            ///< another one that takes at most 5 % longer
  bool whole = true;                             ///< every method is known here
};

/// The place where another method becomes the first, within 1 %, on a line of the grid between two
/// of its networks.
struct MapChange {
  MapPlace at;
  bool along_bandwidth = true;  ///< else along the latency
  std::size_t before = 0;       ///< the first at less bandwidth, or less latency
  std::size_t after = 0;
};

/// The map of who is first to a target on which network.
struct FirstMap {
  std::string name;  ///< what the methods have in common, where there are several maps
  std::string about;
  std::vector<MapMethod> methods;
  std::vector<double> latencies, bandwidths;  ///< ascending
  std::vector<MapCell> cells;                 ///< of the first latency at every bandwidth, ...
  std::vector<MapChange> changes;             ///< along the bandwidth, then along the latency
  std::vector<MapPlace> runs;                 ///< networks that runs were made on
  std::vector<std::string> notes;

  const MapCell& cell(std::size_t latency, std::size_t bandwidth) const {
    return cells[latency * bandwidths.size() + bandwidth];
  }
};

/// 0.01 ms .. 50 ms and 5 Mbit/s .. 20 Gbit/s in steps of 1, 2, 5: twelve each.
std::vector<double> map_latencies();
std::vector<double> map_bandwidths();

/// A method takes its rounds times the seconds of one; changes are found by bisection among the
/// methods that have a clock, of which there must be one. Deterministic, whatever `threads`
/// compute it; `on_progress` is called from this one.
FirstMap draw_first_map(std::vector<MapMethod> methods,
                        const std::vector<double>& latencies,
                        const std::vector<double>& bandwidths,
                        int threads,
                        const std::function<void(std::size_t done, std::size_t all)>& on_progress);

/// The screen, within 80 columns: a letter for each method, a row for each latency, and where the
/// first changes. Ends with a newline.
std::string map_text(const FirstMap& map);
/// Writes the same as a Markdown table.
std::string map_markdown(const FirstMap& map);
/// An element of "maps" in schema grapevine.map/1: methods, networks, who is first on each, and the
/// changes; seconds, bytes per second.
Json map_json(const FirstMap& map);

/// "5 ms", "0.1 ms".
std::string latency_text(double seconds);
/// "100 Mbit", "2 Gbit", "unlimited".
std::string bandwidth_text(double bytes_per_second);
/// A capital letter for each method, from its name where that is free.
std::vector<char> map_letters(const std::vector<MapMethod>& methods);

}  // namespace gv

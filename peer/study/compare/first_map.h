#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"

namespace gv {

/// A network at a place of the map.
struct MapPlace {
  double latency = 0;    ///< seconds, one way
  double bandwidth = 0;  ///< bytes per second; infinity: unlimited
};

/// A method to be placed on the map.
struct MapMethod {
  std::string label;
  double rounds = 0;                ///< measured rounds to the target, geometric mean over seeds
  std::optional<double> low, high;  ///< interval of `rounds`
  /// Seconds per round on a network, by the method's own clock. Null for asynchronous methods: the
  /// network changes what their rounds do, so they are known only on the networks of their runs.
  std::function<double(const MapPlace&)> seconds_per_round;
  struct Trained {
    MapPlace at;
    double seconds = 0;  ///< seconds to the target
  };
  std::vector<Trained> trained{};
};

/// A network of the grid, and the time that each method takes there to the target.
struct MapCell {
  MapPlace at;
  std::vector<std::optional<double>> seconds{};  ///< by method; none: not known here
  std::size_t first = 0;                         ///< index of the fastest method
  std::optional<std::size_t> close{};            ///< another method that takes at most 5 % longer
  bool whole = true;                             ///< whether every method is known here
};

/// The place at which another method becomes the first, within 1 %, between two neighbouring
/// networks of the grid.
struct MapChange {
  MapPlace at;
  bool along_bandwidth = true;  ///< otherwise along the latency
  std::size_t before = 0;       ///< first method at less bandwidth or latency
  std::size_t after = 0;
};

/// The map of the fastest method to a target on each network.
struct FirstMap {
  std::string name;  ///< common values of the methods, if there are several maps
  std::string about;
  std::vector<MapMethod> methods;
  std::vector<double> latencies, bandwidths;  ///< ascending
  std::vector<MapCell> cells;                 ///< row by row, one row for each latency
  std::vector<MapChange> changes;             ///< along the bandwidth, then along the latency
  std::vector<MapPlace> runs;                 ///< networks on which the runs were made
  std::vector<std::string> notes;

  const MapCell& cell(std::size_t latency, std::size_t bandwidth) const {
    return cells[latency * bandwidths.size() + bandwidth];
  }
};

/// Returns 0.01 ms .. 50 ms and 5 Mbit/s .. 20 Gbit/s in steps of 1, 2, 5: twelve each.
std::vector<double> map_latencies();
std::vector<double> map_bandwidths();

/// Draws the map. A method takes its rounds times the seconds per round. Changes are found by
/// bisection among the methods that have a clock; at least one must have one. Deterministic for any
/// number of `threads`; `on_progress` is called on the calling thread.
FirstMap draw_first_map(std::vector<MapMethod> methods,
                        const std::vector<double>& latencies,
                        const std::vector<double>& bandwidths,
                        int threads,
                        const std::function<void(std::size_t done, std::size_t all)>& on_progress);

/// Returns the map for a terminal, within 80 columns: a letter for each method, a row for each
/// latency, and the changes of the first method. Ends with a newline.
std::string map_text(const FirstMap& map);
/// Returns the map as a Markdown table.
std::string map_markdown(const FirstMap& map);
/// Returns an element of "maps" in schema grapevine.map/1: methods, networks, the first method on
/// each, and the changes; in seconds and bytes per second.
Json map_json(const FirstMap& map);

/// "5 ms", "0.1 ms".
std::string latency_text(double seconds);
/// "100 Mbit", "2 Gbit", "unlimited".
std::string bandwidth_text(double bytes_per_second);
/// Returns a capital letter for each method, from its name if that letter is free.
std::vector<char> map_letters(const std::vector<MapMethod>& methods);

}  // namespace gv

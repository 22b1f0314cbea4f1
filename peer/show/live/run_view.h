#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/formats/json_value.h"
#include "peer/fleet/json/json.h"
#include "peer/record/watch/hold_ups.h"

namespace gv {

/// The part of a view that does not change while a run goes on.
struct RunTitle {
  std::string name{};
  std::string folder{};
  std::string method{};                  ///< "d-psgd lian"
  std::string graph{};                   ///< "ring"
  std::vector<std::string> hosts{};      ///< by peer; empty: all on one machine
  std::optional<double> stop_seconds{};  ///< of training, after which it ends; none: no such end
};

/// A peer as it is shown.
struct PeerView {
  PeerState state;
  Round lag = 0;  ///< rounds behind the furthest
  std::optional<double> cpu_seconds{};
  std::optional<double> cpu_share{};  ///< of one core, of late
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> out_rate{};  ///< bytes per second on the wire
};

/// A run as it is shown: to `top`, to a page, to a scraper.
struct RunView {
  RunTitle title;
  FleetState::Phase phase = FleetState::Phase::starting;
  double seconds = 0;
  Round round = 0;
  Round first = 0;  ///< in which it began: not 0 where it was resumed
  std::optional<Round> rounds{};
  double rate = 0;  ///< rounds per second, of late
  std::vector<PeerView> peers{};
  std::optional<MetricsRow> latest{};
  std::vector<double> losses{};  ///< of the mean model at the last evaluations, at most 32
  std::optional<OrderAnswer> checkpoint{};
  std::optional<OrderAnswer> record{};

  std::size_t alive() const;
  /// Returns the part of the run that is over, by rounds or by time, whichever ends it first;
  /// nothing if neither end is known.
  std::optional<double> part_over() const;
  /// Returns the seconds until that end; nothing unless it trains and the end can be told.
  std::optional<double> seconds_left() const;
};

std::string_view word_of(FleetState::Phase phase);
std::string_view word_of(PeerState::Stage stage);

/// {"schema":"grapevine.live/1","name":..,"phase":"training","round":..,"peers":[{..},..],..}
Json json_of(const RunView& view);
/// Throws std::runtime_error that says what is missing.
RunView parse_view(const JsonValue& json);

}  // namespace gv

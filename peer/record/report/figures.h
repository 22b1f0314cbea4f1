#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "graph/formats/json_value.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/metrics.h"

namespace gv {

/// Valid values of a figure; files are untrusted.
enum class FigureRange : std::uint8_t {
  count,     ///< a whole number in 0 .. 1e18
  amount,    ///< a number in 0 .. 1e18
  fraction,  ///< a number in 0 .. 1
  number,    ///< a number within 1e300; null if it was not finite
};

/// Tables that have a column for a figure.
enum class FigureColumn : std::uint8_t {
  always,
  of_agents,  ///< in tables with a run of agents
  of_actors,  ///< in tables with a run whose actors are separate peers
  none,       ///< in no table: read it from the run's own file
};

/// A figure of an evaluation, and everything that files, tables, TensorBoard and Prometheus need
/// for it. A new figure is a member of MetricsRow and a row here.
struct RunFigure {
  using Required = double MetricsRow::*;
  using Optional = std::optional<double> MetricsRow::*;
  /// Computed from other members: written, never read.
  using Derived = std::optional<double> (*)(const MetricsRow&);

  std::string_view key;  ///< key in metrics.jsonl and summary.json; heading of its column
  std::variant<Required, Optional, Derived> value;
  FigureRange range = FigureRange::amount;
  FigureColumn column = FigureColumn::always;
  std::string_view tag{};     ///< TensorBoard tag, if it is shown there
  std::string_view metric{};  ///< Prometheus name after `grapevine_`, if it is there
  std::string_view help{};    ///< help of the metric; {}: Test or Validation
  std::string_view within{};  ///< object in the file that holds it, if not the line itself
  bool stated = false;        ///< written as null, not left out, if a run has none
  bool begins = false;        ///< its line begins with it; add_figures() skips it

  /// Returns the figure of an evaluation, or nothing if it has none.
  std::optional<double> of(const MetricsRow& row) const;
  /// Returns the figure as it is written to files.
  Json json(const MetricsRow& row) const;
  /// Returns the cell of a table, or "" if there is no value.
  std::string cell(const MetricsRow& row) const;
  /// Reads the figure from a line. Throws std::runtime_error that names the key.
  void read(const JsonValue& line, MetricsRow& row) const;
};

/// Returns all figures, in the order of the columns.
std::span<const RunFigure> figures();

}  // namespace gv

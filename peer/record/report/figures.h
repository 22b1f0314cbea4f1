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

/// The numbers that are believed of a figure, whoever wrote them.
enum class FigureRange : std::uint8_t {
  count,     ///< a whole number in 0 .. 1e18
  amount,    ///< a number in 0 .. 1e18
  fraction,  ///< a number in 0 .. 1
  number,    ///< a number within 1e300; null where it was not finite
};

/// The runs whose tables have a column for a figure.
enum class FigureColumn : std::uint8_t {
  always,
  of_agents,  ///< in tables with a run of agents
  of_actors,  ///< in tables with a run whose actors are peers of their own
  none,       ///< in no table: it is read from the run's own file
};

/// A figure of an evaluation, with all that others need to know of it. Files, tables, TensorBoard
/// and Prometheus have what these rows say, so that a new figure is a member of MetricsRow and a
/// row here.
struct RunFigure {
  using Required = double MetricsRow::*;
  using Optional = std::optional<double> MetricsRow::*;
  /// What follows from other members: it is written, and never read.
  using Derived = std::optional<double> (*)(const MetricsRow&);

  std::string_view key;  ///< in metrics.jsonl, summary.json and the head of its column
  std::variant<Required, Optional, Derived> value;
  FigureRange range = FigureRange::amount;
  FigureColumn column = FigureColumn::always;
  std::string_view tag{};     ///< of TensorBoard; "": it is not shown there
  std::string_view metric{};  ///< of Prometheus, behind `grapevine_`; "": it is not there
  std::string_view help{};    ///< of the metric; {}: Test or Validation
  std::string_view within{};  ///< the object of the file that it stands in; "": the line itself
  bool stated = false;        ///< null where a run has none, and not left out
  bool begins = false;        ///< what its line begins with, and says by itself

  /// Returns the figure of an evaluation; nothing where it has none.
  std::optional<double> of(const MetricsRow& row) const;
  /// Returns it as its files have it.
  Json json(const MetricsRow& row) const;
  /// Returns the cell of a table; "" where there is none.
  std::string cell(const MetricsRow& row) const;
  /// Reads it from a line. Throws std::runtime_error that names the key.
  void read(const JsonValue& line, MetricsRow& row) const;
};

/// Returns all of them, in the order of the columns.
std::span<const RunFigure> figures();

}  // namespace gv

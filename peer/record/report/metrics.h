#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gossip/seam/costs.h"
#include "graph/formats/json_value.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// Returns {"event":"evaluate","round":..,"seconds":..,...}: one line of metrics.jsonl and of
/// `--json`, without a newline. Runs of agents also have "return", "return_local" and "frames".
/// Figures of a validation set have "evaluated_on":"validation".
std::string evaluate_line(const FleetRecord& record);

/// Returns {"event":"summary","rounds":..,"peers":..,"lost":..,"loss":..,"loss_local":..,
/// "accuracy":..,"accuracy_min":..,"accuracy_max":..,"consensus":..,"seconds":..,"sent_bytes":..,
/// "params_hash":"..","model_hash":".."}; with a validation set also "test":{"loss":..,
/// "accuracy":..} of the saved model, and "saved_round" if the best model is saved.
Json summary_json(const FleetRecord& record,
                  PeerId lost,
                  double seconds,
                  const FinalHashes& hashes);

/// Seconds by activity.
using ActivitySeconds = std::array<double, activities>;

/// A line of metrics.jsonl: the fleet at one evaluation. Optional figures are not in every run.
/// figures.h lists each figure's key and range.
struct MetricsRow {
  Round round = 0;
  std::uint64_t tick = 0;  ///< number of the tick, with evaluations by time; otherwise 0
  double seconds = 0;
  std::optional<double> training_seconds{};  ///< time without evaluations and checkpoints
  std::optional<double> samples{};           ///< samples that the fleet has trained on
  std::optional<double> epoch{};
  /// Environment steps of agents; their losses are minus their returns.
  std::optional<double> frames{};
  /// Figures of actors that are separate peers.
  std::optional<double> samples_per_insert{}, memory{}, actors{};
  PeerId peers = 0;
  bool validated = false;  ///< the figures below use a validation set, not the test set
  std::optional<double> train_loss{};
  double loss = 0;        ///< loss of the mean model; NaN if it is not finite
  double loss_local = 0;  ///< mean over local models; NaN if it is not finite
  std::optional<double> accuracy{}, accuracy_min{}, accuracy_max{};
  double consensus = 0;
  std::optional<double> sent_bytes{};
  std::optional<ActivitySeconds> states{};  ///< sum over the peers
  std::optional<double> staleness{}, queue{};
  std::optional<double> hidden_wire{};  ///< seconds
  /// Parts in sent_bytes: payloads, and the rest.
  std::optional<double> model_bytes{}, other_bytes{};
  std::optional<double> repeated_bytes{};  ///< retransmissions, not in sent_bytes
};

MetricsRow row_of(const FleetRecord& record);
/// Uses the keys of metrics.jsonl; leaves out missing figures.
Json json_of(const MetricsRow& row);
/// Adds all figures but those that begin the line (RunFigure::begins).
void add_figures(Json& line, const MetricsRow& row);
/// Reads a line of metrics.jsonl or, with `round` "rounds", a summary. The input is untrusted:
/// throws std::runtime_error that names the key of a number outside its range.
MetricsRow parse_row(const JsonValue& json, const std::string& round = "round");
/// Reads seconds by activity; missing ones are 0. Returns nothing if there is no such key.
std::optional<ActivitySeconds> parse_activities(const JsonValue& owner, const std::string& key);
Json json_of(const ActivitySeconds& seconds);

/// Returns the evaluations in metrics.jsonl, ascending in their rounds. If a run was resumed,
/// rounds after its checkpoint count once, as they were repeated. Ignores a truncated last line.
/// Throws std::runtime_error "path:line: what" on any other damage.
std::vector<MetricsRow> read_metrics(const std::string& path);

/// Drops each second point of a curve if it has more than `most` (>= 2).
void thin_out(std::vector<MetricsRow>& rows, std::size_t most);

/// Returns "validation" or "test": the set that the row's figures use.
std::string set_of(const MetricsRow& row);

// Read a value of a run's documents, within bounds. Each throws std::runtime_error naming the key.

/// Reads a text as printable characters on one line, at most 200 bytes.
std::string stored_text(const JsonValue& object, const std::string& key);
/// Reads a number that is not negative and below 1e18; NaN for null.
double stored_amount(const JsonValue& object, const std::string& key);
/// Reads stored_amount(), or nothing if the key is missing or null.
std::optional<double> stored_maybe(const JsonValue& object, const std::string& key);
/// Reads a fraction in 0 .. 1, or nothing if the key is missing or null.
std::optional<double> stored_fraction(const JsonValue& object, const std::string& key);
/// Reads a number of magnitude below 1e300; NaN for null, which stands for a non-finite value.
double stored_number(const JsonValue& object, const std::string& key);

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

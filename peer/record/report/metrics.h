#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

}  // namespace gv

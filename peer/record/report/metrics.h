#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/costs.h"
#include "graph/formats/json_value.h"
#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// {"event":"evaluate","round":..,"seconds":..,...}: one line of metrics.jsonl and of `--json`. No
/// newline. Of agents with "return", "return_local" and "frames". Where its figures are of a
/// validation set, with "evaluated_on":"validation".
std::string evaluate_line(const FleetRecord& record);

/// {"event":"summary","rounds":..,"peers":..,"lost":..,"loss":..,"loss_local":..,"accuracy":..,
/// "accuracy_min":..,"accuracy_max":..,"consensus":..,"seconds":..,"sent_bytes":..,
/// "params_hash":"..","model_hash":".."}, with a validation set also "test":{"loss":..,
/// "accuracy":..} of the model that is saved, and "saved_round" where that is the best one.
Json summary_json(const FleetRecord& record,
                  PeerId lost,
                  double seconds,
                  const FinalHashes& hashes);

/// Seconds at each activity.
using ActivitySeconds = std::array<double, activities>;

/// A line of metrics.jsonl: the fleet at one evaluation. What is optional is not in every run. How
/// each is called, and what may be there, says figures.h.
struct MetricsRow {
  Round round = 0;
  std::uint64_t tick = 0;  ///< of an evaluation by time; else 0
  double seconds = 0;
  std::optional<double> training_seconds{};  ///< without evaluations and checkpoints
  std::optional<double> samples{};           ///< trained on by the fleet so far
  std::optional<double> epoch{};
  std::optional<double> frames{};  ///< of agents, whose losses are minus their returns
  /// The figures of actors that are peers of their own.
  std::optional<double> samples_per_insert{}, memory{}, actors{};
  PeerId peers = 0;
  bool validated = false;  ///< what follows is of a validation set, not of the test set
  std::optional<double> train_loss{};
  double loss = 0;        ///< of the mean model; NaN where it is not finite
  double loss_local = 0;  ///< mean over local models; NaN likewise
  std::optional<double> accuracy{}, accuracy_min{}, accuracy_max{};
  double consensus = 0;
  std::optional<double> sent_bytes{};
  std::optional<ActivitySeconds> states{};  ///< summed over the peers
  std::optional<double> staleness{}, queue{};
  std::optional<double> hidden_wire{};                 ///< seconds
  std::optional<double> model_bytes{}, other_bytes{};  ///< of sent_bytes: payloads, and the rest
  std::optional<double> repeated_bytes{};              ///< beside sent_bytes: sent again
};

MetricsRow row_of(const FleetRecord& record);
/// Uses the names of metrics.jsonl; what is not there is left out.
Json json_of(const MetricsRow& row);
/// Adds all but what says which evaluation it is.
void add_figures(Json& line, const MetricsRow& row);
/// Reads a line of metrics.jsonl or, with `round` "rounds", a summary. Nothing in it is believed:
/// throws std::runtime_error that names the key of a number that cannot be.
MetricsRow parse_row(const JsonValue& json, const std::string& round = "round");
/// Reads seconds by activity, of which those that are not there are 0; nothing where none are.
std::optional<ActivitySeconds> parse_activities(const JsonValue& owner, const std::string& key);
Json json_of(const ActivitySeconds& seconds);

/// The evaluations in metrics.jsonl, ascending in their rounds: where a run was resumed, what came
/// after the checkpoint that it went on from counts only once, as it was done again. A last line
/// that was cut off is left out. Throws std::runtime_error "path:line: what" on any other damage.
std::vector<MetricsRow> read_metrics(const std::string& path);

/// Keeps `most` (>= 2) points of a curve at the most: each second one goes when there are more.
void thin_out(std::vector<MetricsRow>& rows, std::size_t most);

/// "validation" or "test": the set that the row's figures are of.
std::string set_of(const MetricsRow& row);

// What a run's documents say under a key, within bounds. Each throws std::runtime_error naming it.

/// Printable, on one line, at most 200 bytes.
std::string stored_text(const JsonValue& object, const std::string& key);
/// Reads a number that is not negative and below 1e18; NaN for null.
double stored_amount(const JsonValue& object, const std::string& key);
/// Does the same; nothing where there is no such key, or null.
std::optional<double> stored_maybe(const JsonValue& object, const std::string& key);
/// Reads a fraction in 0 .. 1; nothing where there is no such key, or null.
std::optional<double> stored_fraction(const JsonValue& object, const std::string& key);
/// A number of either sign below 1e300; NaN for null, as which what is not finite was written.
double stored_number(const JsonValue& object, const std::string& key);

}  // namespace gv

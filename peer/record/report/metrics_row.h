#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/timesheet.h"
#include "graph/formats/json_value.h"
#include "peer/fleet/json/json.h"
#include "peer/record/observer.h"

namespace gv {

/// Seconds at each activity.
using ActivitySeconds = std::array<double, activities>;

/// A line of metrics.jsonl: the fleet at one evaluation. What is optional is not in every run.
struct MetricsRow {
  Round round = 0;
  std::uint64_t tick = 0;  ///< of an evaluation by time; else 0
  double seconds = 0;
  std::optional<double> training_seconds{};  ///< without evaluations and checkpoints
  std::optional<double> samples{};           ///< trained on by the fleet so far
  std::optional<double> epoch{};
  std::optional<double> frames{};  ///< of agents, whose losses are minus their returns
  /// The figures of actors that are peers of their own; see actor_figures.
  std::optional<double> samples_per_insert{}, memory{}, actors{};
  PeerId peers = 0;
  bool validated = false;  ///< what follows is of a validation set, not of the test set
  double train_loss = 0;
  double loss = 0;        ///< of the mean model
  double loss_local = 0;  ///< mean over local models
  std::optional<double> accuracy{}, accuracy_min{}, accuracy_max{};
  double consensus = 0;
  std::optional<std::uint64_t> sent_bytes{};
  std::optional<ActivitySeconds> activities{};  ///< summed over the peers
};

/// A figure that is told of a fleet whose actors are peers of their own.
struct ActorFigure {
  std::string_view key;     ///< in metrics.jsonl, summary.json and tables
  std::string_view metric;  ///< for Prometheus, behind `grapevine_`
  std::string_view help;
  std::optional<double> MetricsRow::*value;
};
inline constexpr std::array<ActorFigure, 3> actor_figures{
    {{"samples_per_insert",
      "samples_per_insert",
      "Samples learnt for each transition that the memories have taken since their warm-up.",
      &MetricsRow::samples_per_insert},
     {"memory", "memory_transitions", "Transitions that the memories keep.", &MetricsRow::memory},
     {"actors", "actors_alive", "Actors that live.", &MetricsRow::actors}}};

MetricsRow row_of(const FleetRecord& record);
/// Uses the names of metrics.jsonl; what is not there is left out.
Json json_of(const MetricsRow& row);
/// Throws std::runtime_error that names the key.
MetricsRow parse_row(const JsonValue& json);
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

}  // namespace gv

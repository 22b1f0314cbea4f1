#include <array>
#include <cmath>

#include <fmt/format.h>

#include "peer/fleet/json/json.h"
#include "peer/record/report/metrics.h"

namespace gv {
namespace {

using enum FigureRange;
using enum FigureColumn;
using Row = MetricsRow;

std::optional<double> round_of(const Row& row) {
  return static_cast<double>(row.round);
}
std::optional<double> peers_in_row(const Row& row) {
  return row.peers;
}
/// An agent's loss is minus its return; `0 -` avoids -0.
std::optional<double> return_of(const Row& row) {
  return row.frames ? std::optional(0 - row.loss) : std::nullopt;
}
std::optional<double> local_return_of(const Row& row) {
  return row.frames ? std::optional(0 - row.loss_local) : std::nullopt;
}

constexpr std::array all{
    RunFigure{.key = "round",
              .value = &round_of,
              .range = count,
              .metric = "evaluated_round",
              .help = "Round of the newest evaluation.",
              .begins = true},
    RunFigure{.key = "seconds", .value = &Row::seconds, .tag = "clock/seconds"},
    RunFigure{.key = "training_seconds",
              .value = &Row::training_seconds,
              .tag = "clock/training_seconds"},
    RunFigure{.key = "samples", .value = &Row::samples, .range = count, .tag = "data/samples"},
    RunFigure{.key = "epoch", .value = &Row::epoch, .tag = "data/epoch"},
    RunFigure{.key = "peers", .value = &peers_in_row, .range = count, .begins = true},
    RunFigure{.key = "train_loss",
              .value = &Row::train_loss,
              .range = number,
              .tag = "loss/training",
              .metric = "train_loss",
              .help = "Mean minibatch loss since the last evaluation."},
    RunFigure{.key = "loss",
              .value = &Row::loss,
              .range = number,
              .tag = "loss/mean_model",
              .metric = "loss",
              .help = "{} loss of the mean model."},
    RunFigure{.key = "loss_local",
              .value = &Row::loss_local,
              .range = number,
              .tag = "loss/local_models",
              .metric = "local_loss",
              .help = "Mean of the local models: {} loss."},
    RunFigure{.key = "accuracy",
              .value = &Row::accuracy,
              .range = fraction,
              .tag = "accuracy/mean_model",
              .metric = "accuracy_ratio",
              .help = "{} accuracy of the mean model.",
              .stated = true},
    RunFigure{.key = "accuracy_min",
              .value = &Row::accuracy_min,
              .range = fraction,
              .tag = "accuracy/worst",
              .metric = "worst_accuracy_ratio",
              .help = "{} accuracy of the worst local model.",
              .stated = true},
    RunFigure{.key = "accuracy_max",
              .value = &Row::accuracy_max,
              .range = fraction,
              .tag = "accuracy/best",
              .stated = true},
    RunFigure{.key = "consensus",
              .value = &Row::consensus,
              .range = number,
              .tag = "consensus",
              .metric = "consensus_distance",
              .help = "Mean squared distance of a local model to the mean model."},
    RunFigure{.key = "sent_bytes", .value = &Row::sent_bytes, .range = count, .tag = "sent_bytes"},
    RunFigure{.key = "return",
              .value = &return_of,
              .range = number,
              .column = of_agents,
              .tag = "return/mean_model",
              .metric = "return",
              .help = "Mean return of the mean model."},
    RunFigure{.key = "return_local",
              .value = &local_return_of,
              .range = number,
              .column = of_agents,
              .tag = "return/local_models",
              .metric = "local_return",
              .help = "Mean return of the local models."},
    RunFigure{.key = "frames",
              .value = &Row::frames,
              .range = count,
              .column = of_agents,
              .tag = "data/frames",
              .metric = "frames_total",
              .help = "Steps of all environments."},
    RunFigure{.key = "samples_per_insert",
              .value = &Row::samples_per_insert,
              .column = of_actors,
              .tag = "data/samples_per_insert",
              .metric = "samples_per_insert",
              .help = "Samples learnt for each transition that the memories have taken since their "
                      "warm-up."},
    RunFigure{.key = "memory",
              .value = &Row::memory,
              .range = count,
              .column = of_actors,
              .tag = "data/memory",
              .metric = "memory_transitions",
              .help = "Transitions that the memories keep."},
    RunFigure{.key = "actors",
              .value = &Row::actors,
              .range = count,
              .column = of_actors,
              .tag = "data/actors",
              .metric = "actors_alive",
              .help = "Actors that live."},
    RunFigure{.key = "staleness", .value = &Row::staleness, .range = count, .column = none},
    RunFigure{.key = "queue", .value = &Row::queue, .range = count, .column = none},
    RunFigure{.key = "hidden_wire", .value = &Row::hidden_wire, .column = none},
    RunFigure{.key = "model",
              .value = &Row::model_bytes,
              .range = count,
              .column = none,
              .within = "bytes"},
    RunFigure{.key = "other",
              .value = &Row::other_bytes,
              .range = count,
              .column = none,
              .within = "bytes"},
    RunFigure{.key = "repeated",
              .value = &Row::repeated_bytes,
              .range = count,
              .column = none,
              .within = "bytes"}};

bool is_whole(double value) {
  return value >= 0 && value <= 1e18 && value == std::floor(value);
}

double within_range(const JsonValue& owner, const std::string& key, FigureRange range) {
  if (range == FigureRange::number) return stored_number(owner, key);
  const double value = range == FigureRange::fraction
                           ? stored_fraction(owner, key).value_or(std::nan(""))
                           : stored_amount(owner, key);
  if (std::isnan(value)) refuse_json(key, "a number");
  if (range == FigureRange::count && !is_whole(value)) refuse_json(key, "a whole number");
  return value;
}

}  // namespace

std::optional<double> RunFigure::of(const MetricsRow& row) const {
  if (const auto* const required = std::get_if<Required>(&value)) return row.**required;
  if (const auto* const optional = std::get_if<Optional>(&value)) return row.**optional;
  return std::get<Derived>(value)(row);
}

Json RunFigure::json(const MetricsRow& row) const {
  const std::optional<double> figure = of(row);
  if (figure && range == FigureRange::count && is_whole(*figure))
    return static_cast<std::uint64_t>(*figure);
  return figure;
}

std::string RunFigure::cell(const MetricsRow& row) const {
  const std::optional<double> figure = of(row);
  if (!figure) return "";
  if (range == FigureRange::count && is_whole(*figure))
    return std::to_string(static_cast<std::uint64_t>(*figure));
  return fmt::format("{}", *figure);
}

void RunFigure::read(const JsonValue& line, MetricsRow& row) const {
  const JsonValue* const owner = within.empty() ? &line : line.find(std::string(within));
  const std::string name(key);
  if (const auto* const required = std::get_if<Required>(&value))
    row.** required = within_range(*owner, name, range);
  const auto* const optional = std::get_if<Optional>(&value);
  if (optional == nullptr || owner == nullptr) return;
  const JsonValue* const said = owner->find(name);
  if (said != nullptr && said->kind != JsonValue::Kind::null)
    row.** optional = within_range(*owner, name, range);
}

std::span<const RunFigure> figures() {
  return all;
}

}  // namespace gv

#include "peer/study/sweep/cell_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "optim/printable.h"

namespace gv {
namespace {

constexpr std::size_t longest_argument = 160;  ///< that a diagnostic shows (peer/fleet/file/source)

std::string words_of(const SweepCell& cell) {
  std::string text;
  for (const auto& [axis, label] : cell.labels)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, label);
  return text.empty() ? "the base file" : text;
}

}  // namespace

std::vector<std::string> arguments_of(const std::vector<SweepSet>& sets) {
  std::vector<std::string> arguments;
  for (const SweepSet& set : sets) arguments.push_back(set.argument);
  return arguments;
}

Fleet CellCheck::read(const SweepCell& cell, const TuningPoint& point) {
  std::vector<SweepSet> sets = cell.sets;
  sets.insert(sets.end(), point.begin(), point.end());
  Fleet fleet;
  try {
    fleet = read_fleet(file_.base, arguments_of(sets), nullptr);
    const bool looks =
        fleet.evaluate_every > 0 || fleet.evaluate_every_epochs || fleet.evaluate_period > Time{0};
    if (file_.target && !looks)
      say({.where = "",
           .message = "a target needs evaluations on the way",
           .source = "",
           .help = "add `evaluate: { every: 25 rounds }` to the base file"},
          cell,
          sets);
    if (file_.simulated && fleet.program)
      say({.where = "",
           .message = "the gradients are its program's, which `grapevine simulate` does not start",
           .source = "",
           .help = "add `in: run` to the sweep file: each trial then starts its programs"},
          cell,
          sets);
    if (file_.tune && file_.tune->in_rungs() && !fleet.stop.rounds && !fleet.stop.epochs)
      say({.where = "",
           .message = file_.tune->by + " needs to know how long a training is",
           .source = "",
           .help = "give `stop.rounds` or `stop.epochs` in the base file"},
          cell,
          sets);
  } catch (const FleetError& error) {
    for (const Diagnostic& problem : error.diagnostics()) say(problem, cell, sets);
  }
  return fleet;
}

void CellCheck::check_ends(const SweepCell& cell, const std::vector<TuningKnob>& knobs) {
  for (const double u : {0.0, 1.0}) {
    TuningPoint point;
    for (const TuningKnob& knob : knobs)
      point.push_back({knob.key, knob.key + "=" + value_at(knob, u), knob.place});
    if (!point.empty()) read(cell, point);
  }
}

void CellCheck::say(const Diagnostic& problem,
                    const SweepCell& cell,
                    const std::vector<SweepSet>& sets) {
  const auto set = std::ranges::find_if(sets, [&](const SweepSet& s) {
    return problem.where == "--set " + printable(s.argument, longest_argument);
  });
  const bool blamed = set != sets.end();
  const Place place = blamed ? set->place : place_of(cell);
  const std::string message =
      blamed ? problem.message
             : fmt::format("{}: {}{}",
                           words_of(cell),
                           problem.message,
                           problem.where.empty() ? "" : fmt::format(" ({})", problem.where));
  const std::string at = fmt::format("{}:{}:{}", place.line, place.column, problem.message);
  if (!said_.insert(at).second) return;
  source_.error(place, 1, message, problem.help);
}

/// Returns the place of a cell's value on the first axis on which cells differ.
Place CellCheck::place_of(const SweepCell& cell) const {
  for (const SweepAxis& axis : file_.axes)
    for (const SweepValue& value : axis.values)
      if (cell.labels.at(axis.name) == value.label) return value.place;
  return {1, 1, ""};
}

}  // namespace gv

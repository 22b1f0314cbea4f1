#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/spec/nearest.h"
#include "optim/mapped.h"
#include "optim/printable.h"
#include "peer/record/report/screen.h"
#include "peer/study/sweep/sweep.h"

namespace gv {
namespace {

using Stage = TrialSlot::Stage;

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

/// Returns the labels of an axis, for --only.
std::vector<std::string> labels_on(const std::string& axis, const SweepPlan& plan) {
  std::vector<std::string> labels;
  if (axis == "stage") return {"tune", "measure"};
  if (axis == "seed")
    for (const std::uint64_t seed : plan.seeds) labels.push_back(std::to_string(seed));
  for (const SweepAxis& each : plan.file.axes)
    if (each.name == axis)
      for (const SweepValue& value : each.values) labels.push_back(value.label);
  return labels;
}

std::string point_words(const TuningPoint& point) {
  std::string text;
  for (const SweepSet& set : point)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", set.key.substr(set.key.rfind('.') + 1),
                        set.value());
  return text.empty() ? "the base file's own" : text;
}

std::size_t tuning_trials(const SweepFamily& family) {
  std::size_t all = 0;
  for (const TuningBracket& bracket : family.brackets) all += bracket.points.size();
  return all;
}

std::string cost_text(const SweepFamily& family, double cost) {
  if (!std::isfinite(cost)) return "target missed";
  return family.synchronous ? fmt::format("{:.0f} rounds", cost) : seconds_text(cost);
}

/// Returns the figure by which tuning compares if the sweep has no target.
std::string end_text(const TrialScore& score) {
  return score.errs ? fmt::format("accuracy {:.4f}", 1 - score.last)
                    : fmt::format("loss {:.4g}", score.last);
}

std::string trial_words(const SweepPlan& plan, const TrialSlot& slot) {
  const std::string label =
      slot.stage == Stage::tune ? plan.families[slot.family].label : label_of(plan, slot.cell);
  return fmt::format("{}{}s{}", label, label.empty() ? "" : " ", slot.seed);
}

bool has_failed(const SweepFolder& folder, const TrialSlot& slot) {
  std::error_code ignored;
  return std::filesystem::exists(folder.failed(slot), ignored);
}

std::string state_word(const SweepFolder& folder,
                       const SweepState& state,
                       const SweepPlan& plan,
                       std::size_t s) {
  const std::optional<TrialEnd>& end = state.end(s);
  if (end && end->diverged) return "diverged";
  if (end) return end->replayed ? "replayed" : "done";
  return has_failed(folder, plan.slots[s]) ? "failed" : "to do";
}

/// Numbers of trials; `diverged` ended without a finite loss.
struct Tally {
  std::size_t wanted = 0, done = 0, diverged = 0, replayed = 0;
};
Tally tally_of(const SweepPlan& plan, const SweepState& state) {
  Tally tally;
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    if (!state.wanted(s)) continue;
    ++tally.wanted;
    if (!state.end(s)) continue;
    ++tally.done;
    tally.diverged += state.end(s)->diverged ? 1 : 0;
    tally.replayed += state.end(s)->replayed ? 1 : 0;
  }
  return tally;
}

/// Counts the trials by build, if they contain it.
std::map<std::string, std::size_t> builds_of(const SweepPlan& plan, const SweepState& state) {
  std::map<std::string, std::size_t> builds;
  for (std::size_t s = 0; s < plan.slots.size(); ++s)
    if (state.wanted(s) && state.end(s) && !state.end(s)->build.empty())
      ++builds[state.end(s)->build];
  return builds;
}

std::string compare_command(const SweepPlan& plan, const SweepFolder& folder) {
  std::string text = "grapevine compare " + shell_path(folder.path());
  if (const auto& target = plan.file.target)
    text += " --target " + shell_word(target_argument(*target));
  for (const std::string& expected : plan.file.expect) text += " --expect " + shell_word(expected);
  return text;
}

}  // namespace

CellPattern only_pattern(const std::vector<std::string>& only, const SweepPlan& plan) {
  CellPattern pattern;
  std::vector<std::string> axes{"seed", "stage"};
  for (const SweepAxis& axis : plan.file.axes) axes.push_back(axis.name);
  for (const std::string& argument : only) {
    const auto equals = argument.find('=');
    const std::string axis = argument.substr(0, equals);
    if (equals == std::string::npos || std::ranges::count(axes, axis) == 0)
      throw std::invalid_argument(
          fmt::format("--only {}: no axis is called `{}`\nhelp:  there are: {}", argument, axis,
                      fmt::join(axes, ", ")));
    const std::vector<std::string> known = labels_on(axis, plan);
    for (const std::string& label : split_commas(argument.substr(equals + 1))) {
      if (std::ranges::count(known, label) == 0)
        throw std::invalid_argument(
            fmt::format("--only {}: `{}` has no value `{}`\nhelp:  there are: {}", argument, axis,
                        label, fmt::join(known, ", ")));
      pattern[axis].push_back(label);
    }
    if (pattern[axis].empty())
      throw std::invalid_argument(fmt::format("--only {}: expected AXIS=LABEL", argument));
  }
  return pattern;
}

SweepClock::SweepClock(const SweepPlan&, const SweepState& state)
    : state_(state), began_(std::chrono::steady_clock::now()) {}

std::optional<double> SweepClock::left() const {
  if (finished_ == 0) return std::nullopt;
  const std::size_t all = state_.count(Stage::tune) + state_.count(Stage::measure);
  const std::size_t done = state_.count_done(Stage::tune) + state_.count_done(Stage::measure);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
  return passed.count() / static_cast<double>(finished_) *
         static_cast<double>(all - std::min(all, done));
}

std::string progress_text(const SweepPlan& plan,
                          const SweepState& state,
                          const std::vector<WorkerPool::Running>& running,
                          const std::string& elsewhere,
                          std::optional<double> left) {
  std::string text;
  for (const auto& [stage, word] :
       {std::pair{Stage::tune, "tune"}, std::pair{Stage::measure, "measure"}})
    if (state.count(stage) > 0)
      text += fmt::format("{} {}/{}  ", word, state.count_done(stage), state.count(stage));
  if (!elsewhere.empty()) return text + "waiting: " + elsewhere;
  text += fmt::format("{} running", running.size());
  if (!running.empty()) {
    const WorkerPool::Running& first = running.front();
    text += ": " + trial_words(plan, *std::ranges::find(plan.slots, first.job.slot.number,
                                                        &TrialSlot::number));
    if (first.rounds > 0)
      text += fmt::format(" {:.0f} %",
                          100.0 * static_cast<double>(std::min(first.round, first.rounds)) /
                              static_cast<double>(first.rounds));
  }
  if (left) text += fmt::format("  {} left", seconds_text(*left));
  return text;
}

std::string tuned_text(const SweepPlan& plan, std::size_t f, const TunedFamily& tuned) {
  const SweepFamily& family = plan.families[f];
  std::string text =
      fmt::format("tune    {}  {} trials  {}  {}", family.label, tuning_trials(family),
                  point_words(tuned.values),
                  plan.file.target ? cost_text(family, tuned.score.cost) : end_text(tuned.score));
  const bool has_base = family.brackets[0].points[0].empty();  // a grid has none
  if (tuned.values.empty() || !has_base) return text;
  if (!tuned.base) return text + " (base: left in an early rung)";
  if (!plan.file.target) return text + fmt::format(" (base: {})", end_text(*tuned.base));
  if (!std::isfinite(tuned.base->cost)) return text + " (base: missed it)";
  return text + fmt::format(" (base: {:.2f}x)", tuned.base->cost / tuned.score.cost);
}

std::string list_text(const SweepPlan& plan, const SweepFolder& folder, const SweepState& state) {
  std::string text;
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    if (!state.wanted(s)) continue;
    const TrialSlot& slot = plan.slots[s];
    std::string what = slot.stage == Stage::tune ? "tune   " : "measure";
    std::string tried;
    if (slot.stage == Stage::tune) {
      const auto values = state.values_of(slot);
      tried = "  " + (values ? point_words(*values)
                             : fmt::format("place {} of rung {}", slot.place, slot.rung));
    }
    text += fmt::format("{:04} {:8} {} {}{}\n", slot.number, state_word(folder, state, plan, s),
                        what, trial_words(plan, slot), tried);
  }
  return text;
}

std::string end_text(const SweepPlan& plan,
                     const SweepFolder& folder,
                     const SweepState& state,
                     const FailedTrials& failed) {
  const Tally tally = tally_of(plan, state);
  std::string text = fmt::format("{} of {} trials are done", tally.done, tally.wanted);
  if (tally.replayed > 0) text += fmt::format(", {} by clock alone", tally.replayed);
  if (tally.diverged > 0) text += fmt::format(", {} diverged", tally.diverged);
  text += fmt::format("\nsaved      {}\n", folder.path());
  if (!failed.empty())
    text += fmt::format("{} failed (their folders: {}/failed); the same command tries again\n",
                        failed.size(), folder.path());
  if (tally.done > 0) text += fmt::format("compare    {}\n", compare_command(plan, folder));
  return text;
}

std::string kept_builds_text(const SweepPlan& plan,
                             const SweepState& state,
                             const std::string& build) {
  std::string text;
  for (const auto& [other, trials] : builds_of(plan, state))
    if (other != build)
      text += fmt::format("warning: {} of another build than this one: {}\n",
                          counted(trials, "trial is", "trials are"), other);
  return text;
}

std::string left_builds_text(const SweepState& state) {
  std::string text;
  for (const auto& [other, slots] : state.other_builds())
    text += fmt::format("notice: {} of another build, done again: {}\n",
                        counted(slots.size(), "trial is", "trials are"),
                        other.empty() ? "one that did not name itself" : other);
  if (!text.empty()) text += "help:  --keep-trials takes them as they are\n";
  return text;
}

Json sweep_json(const SweepPlan& plan,
                const SweepFolder& folder,
                const SweepState& state,
                const FailedTrials& failed) {
  const Tally tally = tally_of(plan, state);
  Json json{{"schema", "grapevine.sweep/1"}, {"name", plan.file.name}, {"folder", folder.path()},
            {"trials", tally.wanted},        {"done", tally.done},     {"replayed", tally.replayed},
            {"diverged", tally.diverged},    {"failed", failed.size()}};
  json["builds"] = Json::members(builds_of(plan, state));
  Json& tuned = json["tuned"] = Json::array();
  for (std::size_t f = 0; f < plan.families.size(); ++f) {
    if (!state.tuned(f)) continue;
    Json values = Json::object();
    for (const SweepSet& set : state.tuned(f)->values) values[set.key] = set.value();
    const TrialScore& score = state.tuned(f)->score;
    tuned.push_back(Json{{"family", plan.families[f].label},
                         {"values", values},
                         {"by", plan.families[f].synchronous ? "rounds" : "seconds"},
                         {"cost", score.cost},
                         {"edges", mapped(state.tuned(f)->edges, &TuningEdge::words)}});
  }
  Json& all = json["list"] = Json::array();
  for (std::size_t s = 0; s < plan.slots.size(); ++s) {
    if (!state.wanted(s)) continue;
    const TrialSlot& slot = plan.slots[s];
    Json row{{"number", slot.number},
             {"folder", "trials/" + slot.folder},
             {"stage", slot.stage == Stage::tune ? "tune" : "measure"},
             {"seed", slot.seed},
             {"state", state_word(folder, state, plan, s)}};
    if (const auto why = failed.find(slot.number); why != failed.end()) row["error"] = why->second;
    all.push_back(row);
  }
  return json;
}

}  // namespace gv

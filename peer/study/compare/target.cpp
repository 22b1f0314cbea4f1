#include "peer/study/compare/target.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/algorithm.h"
#include "graph/spec/parameters.h"
#include "optim/printable.h"
#include "peer/study/compare/statistics.h"

namespace gv {
namespace {

using Figure = CompareTarget::Figure;
using Whose = CompareTarget::Whose;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw std::invalid_argument(
      fmt::format("--target {}: {}\nhelp:  --target accuracy=0.88, accuracy.worst=0.88, loss=0.3, "
                  "loss.local=0.3, return=475 or return.local=475",
                  printable(text, 100), why));
}

std::optional<double> number_of(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto value = as_number<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return percent ? *value / 100 : *value;
}

std::uint32_t times_of(const std::string& text, std::string_view times) {
  const auto count = as_number<std::uint32_t>(times);
  if (!count || *count < 1 || *count > 1000)
    refuse(text, "after `for` comes the number of evaluations in a row, 1 to 1000");
  return *count;
}

std::optional<double> interpolated(const std::optional<double>& a,
                                   const std::optional<double>& b,
                                   double part) {
  if (!a || !b) return std::nullopt;
  return *a + part * (*b - *a);
}

RunCost interpolated(const RunCost& a, const RunCost& b, double part) {
  RunCost cost{.rounds = a.rounds + part * (b.rounds - a.rounds),
               .seconds = a.seconds + part * (b.seconds - a.seconds),
               .bytes = a.bytes + part * (b.bytes - a.bytes),
               .samples = interpolated(a.samples, b.samples, part),
               .epochs = interpolated(a.epochs, b.epochs, part),
               .states = std::nullopt,
               .resolution = b.rounds - a.rounds};
  if (a.states && b.states) {
    cost.states.emplace();
    for (std::size_t k = 0; k < activity_names.size(); ++k)
      (*cost.states)[k] = (*a.states)[k] + part * ((*b.states)[k] - (*a.states)[k]);
  }
  return cost;
}

constexpr std::array<std::string_view, 10> measure_names{
    "time",   "bytes",    "rounds", "samples",  "cpu",
    "memory", "accuracy", "loss",   "repeated", "return"};

bool is_centralized(const StoredRun& run) {
  const AlgorithmRow* row = find_algorithm(run.algorithm, run.order);
  return row != nullptr && !row->mixes && run.algorithm != "isolated";
}

}  // namespace

CompareTarget parse_target(const std::string& whole) {
  constexpr std::string_view times = " for ";
  const std::size_t behind = whole.find(times);
  const std::string text = whole.substr(0, behind);
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  CompareTarget target;
  if (name == "accuracy" || name == "accuracy.worst") {
    target.whose = name == "accuracy" ? Whose::mean : Whose::worst;
  } else if (name == "loss" || name == "loss.local" || name == "return" || name == "return.local") {
    target.figure = Figure::loss;
    target.whose = name.ends_with(".local") ? Whose::local : Whose::mean;
    target.as_return = name.starts_with("return");
  } else {
    refuse(text, "no such figure");
  }
  const auto value =
      equals == std::string::npos ? std::nullopt : number_of(text.substr(equals + 1));
  if (!value) refuse(text, "its value is no number");
  if (target.figure == Figure::accuracy && (*value <= 0 || *value > 1))
    refuse(text, "an accuracy is above 0 and at most 1");
  target.value = target.as_return ? -*value : *value;
  if (behind != std::string::npos)
    target.in_a_row = times_of(whole, std::string_view(whole).substr(behind + times.size()));
  return target;
}

/// Returns the target of the run's file, else of its sweep; nothing if neither has a valid one.
std::optional<CompareTarget> target_of(const StoredRun& run) {
  const auto value_of = [&run](const std::string& key) {
    const auto at = run.keys.find("stop.target." + key);
    return at == run.keys.end() ? std::string() : at->second;
  };
  std::string text = run.sweep_target;
  for (const char* figure : {"accuracy", "loss", "return"}) {
    const std::string value = value_of(figure);
    if (value.empty()) continue;
    const std::string of = value_of("of");
    const std::string times = value_of("for");
    text = figure;
    if (!of.empty() && of != "mean") text += "." + of;
    text += "=" + value;
    if (!times.empty()) text += " for " + times;
  }
  try {
    return parse_target(text);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::optional<CompareTarget> target_in_files(const std::vector<StoredRun>& runs) {
  std::optional<CompareTarget> common;
  for (const StoredRun& run : runs) {
    const std::optional<CompareTarget> target = target_of(run);
    if (!target || (common && !(*common == *target))) return std::nullopt;
    common = target;
  }
  return common;
}

std::optional<double> figure_of(const MetricsRow& e, const CompareTarget& target) {
  if (target.as_return && !e.frames) return std::nullopt;
  if (target.figure == Figure::loss)
    return shown(e, target.whose == Whose::local ? CurveFigure::local_loss : CurveFigure::loss);
  return target.whose == Whose::worst ? e.accuracy_min : e.accuracy;
}

RunCost cost_of(const MetricsRow& e) {
  return {.rounds = static_cast<double>(e.round),
          .seconds = clock_of(e),
          .bytes = e.sent_bytes.value_or(0),
          .samples = e.samples,
          .epochs = e.epoch,
          .states = e.states,
          .resolution = 0};
}

/// Returns whether enough evaluations in a row, from `first` on, hold the target.
bool stays(const StoredRun& run, std::size_t first, const CompareTarget& target) {
  if (run.evaluations.size() - first < target.in_a_row) return false;
  for (std::size_t k = first; k < first + target.in_a_row; ++k) {
    const auto figure = figure_of(run.evaluations[k], target);
    if (!figure || !target.holds(*figure)) return false;
  }
  return true;
}

std::optional<RunCost> cost_of(const StoredRun& run, const CompareTarget& target) {
  for (std::size_t k = 0; k < run.evaluations.size(); ++k) {
    if (!stays(run, k, target)) continue;
    const MetricsRow& e = run.evaluations[k];
    const auto then = k == 0 ? std::nullopt : figure_of(run.evaluations[k - 1], target);
    if (!then) return cost_of(e);
    const double now = figure_of(e, target).value();
    return interpolated(cost_of(run.evaluations[k - 1]), cost_of(e),
                        (target.value - *then) / (now - *then));
  }
  return std::nullopt;
}

std::optional<double> best_of(const StoredRun& run, const CompareTarget& target) {
  std::optional<double> best;
  for (const MetricsRow& e : run.evaluations) {
    const auto value = figure_of(e, target);
    if (!value) continue;
    const bool better =
        !best || (target.figure == Figure::accuracy ? *value > *best : *value < *best);
    if (better) best = value;
  }
  return best;
}

Measure measure_named(const std::string& name) {
  const auto at = std::ranges::find(measure_names, name);
  if (at != measure_names.end()) return static_cast<Measure>(at - measure_names.begin());
  throw std::invalid_argument(fmt::format("there is no measure `{}`: there are {}",
                                          printable(name, 60), fmt::join(measure_names, ", ")));
}

std::string_view name_of(Measure measure) {
  return measure_names[static_cast<std::size_t>(measure)];
}

bool is_gain(Measure measure) {
  return measure == Measure::accuracy || measure == Measure::returned;
}

std::size_t Contender::reached() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(entries, [](const SeedRun& e) { return e.cost.has_value(); }));
}

Contender make_contender(const RunTable& table,
                         const RunGroup& group,
                         const std::optional<CompareTarget>& target,
                         const std::vector<std::string>& by) {
  Contender c{.group = &group,
              .label = label_of(table, group, by),
              .centralized = is_centralized(*group.runs.front()),
              .entries = {}};
  for (const StoredRun* run : group.runs) {
    SeedRun entry{.run = run, .cost = cost_of(run->evaluations.back()), .worst = std::nullopt};
    if (target) {
      entry.cost = cost_of(*run, *target);
      CompareTarget worst = *target;
      worst.whose = CompareTarget::Whose::worst;
      if (target->figure == CompareTarget::Figure::accuracy) entry.worst = cost_of(*run, worst);
    }
    c.entries.push_back(entry);
  }
  return c;
}

std::optional<double> measured(const SeedRun& entry, Measure measure) {
  const MetricsRow& end = entry.run->evaluations.back();
  const StoredRun& run = *entry.run;
  if (measure == Measure::accuracy) return run.validated ? run.test_accuracy : end.accuracy;
  if (measure == Measure::loss) {
    const double loss = run.validated ? run.test_loss.value_or(end.loss) : end.loss;
    return std::isfinite(loss) ? std::optional(loss) : std::nullopt;
  }
  if (measure == Measure::returned) return shown(end, CurveFigure::mean_return);
  if (measure == Measure::cpu) return entry.run->cpu_seconds;
  if (measure == Measure::memory) return entry.run->peak_memory;
  if (measure == Measure::repeated) return end.repeated_bytes;
  if (!entry.cost) return std::nullopt;
  if (measure == Measure::time) return entry.cost->seconds;
  if (measure == Measure::bytes) return entry.cost->bytes;
  if (measure == Measure::rounds) return entry.cost->rounds;
  return entry.cost->samples;
}

std::optional<MeasureSummary> summary_of(const Contender& contender, Measure measure) {
  std::vector<double> values;
  for (const SeedRun& entry : contender.entries) {
    const auto value = measured(entry, measure);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  const bool logs =
      !is_gain(measure) && std::ranges::all_of(values, [](double value) { return value > 0; });
  const auto back = [&](double value) { return logs ? std::exp(value) : value; };
  double sum = 0;
  for (double& value : values) {
    if (logs) value = std::log(value);
    sum += value;
  }
  MeasureSummary summary{
      .mean = back(sum / static_cast<double>(values.size())), .low = {}, .high = {}};
  if (const auto interval = mean_interval(values)) {
    summary.low = back(interval->low);
    summary.high = back(interval->high);
  }
  return summary;
}

std::optional<ActivitySeconds> round_states(const Contender& contender) {
  ActivitySeconds sums{};
  double rounds = 0;
  for (const SeedRun& entry : contender.entries) {
    if (!entry.cost || !entry.cost->states) return std::nullopt;
    const auto peers = static_cast<double>(entry.run->peers);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += (*entry.cost->states)[k] / peers;
    rounds += entry.cost->rounds;
  }
  if (rounds == 0) return std::nullopt;
  for (double& sum : sums) sum /= rounds;
  return sums;
}

}  // namespace gv

#include "peer/study/compare/contender.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gossip/algorithm.h"
#include "optim/printable.h"
#include "peer/record/runs/groups.h"
#include "peer/study/compare/statistics.h"

namespace gv {
namespace {

constexpr std::array<std::string_view, 11> measure_names{"time",
                                                         "bytes",
                                                         "rounds",
                                                         "samples",
                                                         "cpu",
                                                         "memory",
                                                         "accuracy",
                                                         "loss",
                                                         "energy",
                                                         "repeated",
                                                         "return"};

bool is_centralized(const StoredRun& run) {
  const AlgorithmRow* row = find_algorithm(run.algorithm, run.order);
  return row != nullptr && !row->mixes && run.algorithm != "isolated";
}

}  // namespace

Measure measure_named(const std::string& name) {
  const auto at = std::ranges::find(measure_names, name);
  if (at != measure_names.end()) return static_cast<Measure>(at - measure_names.begin());
  throw std::invalid_argument(fmt::format("there is no measure `{}`: there are {}",
                                          printable(name, 60),
                                          fmt::join(measure_names, ", ")));
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
  if (measure == Measure::energy) return entry.run->joules;
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

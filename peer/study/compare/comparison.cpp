#include "peer/study/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "optim/mapped.h"

namespace gv {
namespace {

using Figure = CompareTarget::Figure;

/// Gaps between evaluations above this fraction of the cost make the cost inexact.
constexpr double coarse = 0.25;
/// Times of a real run are unreliable if its machine had other work for more than this fraction.
constexpr double much_pressure = 0.1;

/// Runs learn the same problem if these keys agree; how data are divided among peers may differ.
bool is_of_the_problem(const std::string& key) {
  static const std::set<std::string> other{"data.dir",      "data.file",    "data.test_file",
                                           "data.fallback", "data.augment", "data.servers"};
  if (key.starts_with("data.partition") || other.contains(key)) return false;
  return key.starts_with("data.") || key.starts_with("model.");
}

std::string problem_text(const StoredRun& run) {
  return fmt::format("{} ({} parameters) on {}", run.model, run.parameters, run.data);
}

void require_one_problem(const std::vector<StoredRun>& runs) {
  const auto same = [](const StoredRun& a, const StoredRun& b) {
    return std::tie(a.data, a.model, a.parameters) == std::tie(b.data, b.model, b.parameters);
  };
  const StoredRun& first = *std::ranges::min_element(runs, {}, &StoredRun::path);
  for (const StoredRun& run : runs) {
    if (!same(first, run))
      throw std::invalid_argument(
          fmt::format("{} learns {}, and {} learns {}: costs of different problems are not "
                      "compared\nhelp:  name only runs of the same problem",
                      first.shown, problem_text(first), run.shown, problem_text(run)));
    for (const auto& [key, value] : run.keys) {
      const auto other = first.keys.find(key);
      if (other == first.keys.end() || other->second == value || !is_of_the_problem(key)) continue;
      throw std::invalid_argument(
          fmt::format("{} has {}: {}, and {} has {}: costs of different problems are not compared"
                      "\nhelp:  name only runs of the same problem",
                      first.shown, key, other->second, run.shown, value));
    }
  }
}

/// Returns whether all runs train agents.
bool all_act(const std::vector<StoredRun>& runs) {
  return std::ranges::all_of(
      runs, [](const StoredRun& run) { return run.evaluations.back().frames.has_value(); });
}

void require_reached(const std::vector<StoredRun>& runs, const CompareTarget& target) {
  const StoredRun* best = nullptr;
  double value = 0;
  for (const StoredRun& run : runs) {
    const auto mine = best_of(run, target);
    if (!mine) continue;
    if (cost_of(run, target)) return;
    const bool better = target.figure == Figure::accuracy ? *mine > value : *mine < value;
    if (best == nullptr || better) {
      best = &run;
      value = *mine;
    }
  }
  if (best == nullptr)
    throw std::invalid_argument(fmt::format(
        "no run has that figure: {}\nhelp:  these runs have a {}: --target {}=VALUE",
        to_string(target), all_act(runs) ? "return" : "loss", all_act(runs) ? "return" : "loss"));
  throw std::invalid_argument(fmt::format(
      "no run reaches {}; the best is {:.6g} of {}\nhelp:  name a target that a run reached",
      to_string(target), target.as_return ? -value : value, best->shown));
}

bool anybody_reaches(const std::vector<StoredRun>& runs, const CompareTarget& target) {
  return std::ranges::any_of(
      runs, [&](const StoredRun& run) { return cost_of(run, target).has_value(); });
}

/// Returns the measure by which final models are compared if there is no target.
Measure final_measure(const std::vector<StoredRun>& runs) {
  const bool all = std::ranges::all_of(
      runs, [](const StoredRun& run) { return run.evaluations.back().accuracy.has_value(); });
  if (all_act(runs)) return Measure::returned;
  return all ? Measure::accuracy : Measure::loss;
}

/// Returns the sort key: more seeds that reach the target first, then lower cost, then names.
auto place_of(const Contender& c, Measure measure) {
  double sum = 0;
  std::size_t n = 0;
  for (const SeedRun& run : c.entries) {
    const auto value = measured(run, measure);
    if (!value) continue;
    sum += measure == Measure::time ? std::log(std::max(*value, 1e-300)) : *value;
    ++n;
  }
  const double share = static_cast<double>(n) / static_cast<double>(c.entries.size());
  const double mean = n == 0 ? 0 : sum / static_cast<double>(n);
  return std::tuple(-share, is_gain(measure) ? -mean : mean, c.label, c.group->values);
}

double mean_or_infinite(const Contender& c, Measure measure) {
  const auto summary = summary_of(c, measure);
  return summary ? summary->mean : std::numeric_limits<double>::infinity();
}

/// Returns whether all contenders of a section have the same value in this column.
bool is_common(const Section& section, std::size_t column) {
  const std::string& first = section.contenders.front().group->values[column];
  return std::ranges::all_of(section.contenders,
                             [&](const Contender& c) { return c.group->values[column] == first; });
}

/// Makes names as short as the section allows: without common values, and without the graph if the
/// method does not average over it.
void name_contenders(const RunTable& table, Section& section, std::vector<std::string> but) {
  if (section.contenders.size() < 2) return;
  for (std::size_t k = 0; k < table.columns.size(); ++k)
    if (is_common(section, k)) but.push_back(table.columns[k]);
  std::vector<std::string> without_graph = but;
  for (const std::string& column : table.columns)
    if (column.starts_with("topology.")) without_graph.push_back(column);
  const std::vector<std::string> labels = mapped(section.contenders, [&](const Contender& c) {
    return label_of(table, *c.group, c.centralized ? without_graph : but);
  });
  const std::set<std::string> different(labels.begin(), labels.end());
  for (std::size_t k = 0; k < labels.size(); ++k)
    section.contenders[k].label = different.size() == labels.size()
                                      ? labels[k]
                                      : label_of(table, *section.contenders[k].group, but);
}

void finish(Section& section, Measure measure) {
  std::ranges::sort(section.contenders, {},
                    [&](const Contender& c) { return place_of(c, measure); });
  section.pareto = not_dominated(mapped(section.contenders, [](const Contender& c) {
    return std::pair(mean_or_infinite(c, Measure::time), mean_or_infinite(c, Measure::bytes));
  }));
  section.pairs = compare_all(section.contenders, measure);
}

void look_at_resolution(Comparison& c) {
  for (const Section& section : c.sections)
    for (const Contender& contender : section.contenders)
      for (const SeedRun& run : contender.entries) {
        if (!run.cost) continue;
        c.resolution = std::max(c.resolution, run.cost->resolution);
        c.coarseness = std::max(c.coarseness, run.cost->resolution / run.cost->rounds);
        if (run.cost->resolution == 0) ++c.at_once;
      }
}

void count_seeds(Comparison& c) {
  c.seeds_least = std::numeric_limits<std::size_t>::max();
  for (const RunGroup& group : c.table.groups) {
    c.seeds_least = std::min(c.seeds_least, group.runs.size());
    c.seeds_most = std::max(c.seeds_most, group.runs.size());
  }
}

std::vector<std::string> notes_of(const std::vector<StoredRun>& runs, const RunTable& table) {
  std::vector<std::string> notes = table.notes;
  std::set<std::string> builds, processors;
  std::size_t lost = 0;
  std::size_t pressed = 0;
  for (const StoredRun& run : runs) {
    builds.insert(run.version);
    if (!run.simulated) processors.insert(run.processor);
    if (run.lost > 0) ++lost;
    if (!run.simulated && run.cpu_pressure.value_or(0) > much_pressure) ++pressed;
  }
  if (builds.size() > 1)
    notes.push_back(fmt::format("runs of different builds: {}", fmt::join(builds, "; ")));
  if (processors.size() > 1)
    notes.push_back(fmt::format("times of different machines: {}", fmt::join(processors, "; ")));
  if (pressed > 0)
    notes.push_back(fmt::format(
        "{} real run{} short of processors (other work, or more peers than cores): somebody "
        "waited for one in more than {:.0f} % of the time, so seconds are not the methods' own",
        pressed, pressed == 1 ? " was" : "s were", 100 * much_pressure));
  if (lost > 0) notes.push_back(fmt::format("{} runs lost peers on the way", lost));
  if (!table.others.empty())
    notes.push_back(fmt::format("they differ in {} as well", fmt::join(table.others, ", ")));
  return notes;
}

}  // namespace

std::string name_of(const Section& section) {
  std::string name;
  for (const auto& [key, value] : section.by)
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", key, value.empty() ? "-" : value);
  return name;
}

Comparison compare_runs(const std::vector<StoredRun>& runs, const CompareOptions& options) {
  if (runs.empty()) throw std::invalid_argument("there is no run to compare");
  require_one_problem(runs);
  Comparison c;
  c.table = group_runs(runs);
  for (const std::string& name : options.by)
    for (const std::string& column : columns_named(c.table, name)) c.by.push_back(column);
  c.target = options.target ? options.target : target_in_files(runs);
  if (options.target) {
    require_reached(runs, *options.target);
  } else if (c.target && !anybody_reaches(runs, *c.target)) {
    c.notes.push_back(
        fmt::format("no run reaches {}, the target of the files: what was reached at "
                    "the end is compared",
                    to_string(*c.target)));
    c.target.reset();
  }
  c.measure = c.target ? Measure::time : final_measure(runs);
  std::map<std::vector<LabelOrder>, Section> sections;
  for (const RunGroup& group : c.table.groups) {
    const std::vector<LabelOrder> values =
        mapped(c.by, [&](const std::string& key) { return label_order(value_of(group, key)); });
    Section& section = sections[values];
    section.by.clear();
    for (std::size_t k = 0; k < values.size(); ++k)
      section.by.emplace_back(c.by[k], values[k].text);
    section.contenders.push_back(make_contender(c.table, group, c.target, c.by));
  }
  for (auto& [values, section] : sections) {
    name_contenders(c.table, section, c.by);
    finish(section, c.measure);
    c.sections.push_back(std::move(section));
  }
  // Sections in which gossip does not win come first, so that no reader misses them.
  std::ranges::stable_partition(c.sections,
                                [](const Section& s) { return s.contenders.front().centralized; });
  count_seeds(c);
  if (c.target) look_at_resolution(c);
  for (std::string& note : notes_of(runs, c.table)) c.notes.push_back(std::move(note));
  if (c.coarseness > coarse)
    c.notes.push_back(
        fmt::format("two evaluations lie up to {:.0f} % of the way to the target apart: "
                    "a smaller evaluate.every gives more exact costs",
                    100 * c.coarseness));
  return c;
}

std::vector<bool> not_dominated(const std::vector<std::pair<double, double>>& costs) {
  const auto dominates = [](const auto& a, const auto& b) {
    return a.first <= b.first && a.second <= b.second && (a.first < b.first || a.second < b.second);
  };
  std::vector<bool> best;
  for (const auto& mine : costs) {
    const bool finite = std::isfinite(mine.first) && std::isfinite(mine.second);
    best.push_back(finite && std::ranges::none_of(
                                 costs, [&](const auto& other) { return dominates(other, mine); }));
  }
  return best;
}

}  // namespace gv

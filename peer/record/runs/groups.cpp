#include "peer/record/runs/groups.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gv {
namespace {

/// Keys that do not describe the run itself; `faults.ledger` and the like do not affect its
/// figures.
constexpr std::array other_keys{std::string_view("seed"), std::string_view("name"),
                                std::string_view("version")};
constexpr std::array other_rooms{std::string_view("output."), std::string_view("launch."),
                                 std::string_view("checkpoint."), std::string_view("record")};

/// Ranks keys by how well they name a group, best first: the method, the graph, the network.
int rank_of(const std::string& key) {
  constexpr std::array best{
      std::string_view("method"),          std::string_view("algorithm.kind"),
      std::string_view("algorithm.order"), std::string_view("topology.kind"),
      std::string_view("network."),        std::string_view("data.partition."),
      std::string_view("peers"),           std::string_view("algorithm."),
      std::string_view("topology.")};
  for (std::size_t k = 0; k < best.size(); ++k)
    if (key.starts_with(best[k])) return static_cast<int>(k);
  return static_cast<int>(best.size());
}

std::map<std::string, std::string> identity_of(const StoredRun& run) {
  std::map<std::string, std::string> keys;
  for (const auto& [key, value] : run.keys)
    if (tells_runs_apart(key)) keys.emplace(key, value);
  // A file may omit the order; the key would then be missing in one of two equal runs.
  if (!run.order.empty()) keys["algorithm.order"] = run.order;
  keys["algorithm.kind"] = run.algorithm;
  keys["in"] = run.simulated ? "simulate" : "run";
  return keys;
}

std::string text_of(const std::map<std::string, std::string>& keys, const std::string& key) {
  const auto at = keys.find(key);
  return at == keys.end() ? "" : at->second;
}

bool is_word(const std::string& value) {
  return !value.empty() && (std::isalpha(static_cast<unsigned char>(value.front())) != 0) &&
         value != "true" && value != "false";
}

/// Returns whether these columns distinguish all groups.
bool distinct(const std::vector<RunGroup>& groups, const std::vector<std::string>& columns) {
  std::set<std::vector<std::string>> seen;
  for (const RunGroup& group : groups) {
    std::vector<std::string> values;
    for (const std::string& column : columns) values.push_back(text_of(group.keys, column));
    if (!seen.insert(values).second) return false;
  }
  return true;
}

/// Returns whether a key has a list or a map as value. Such keys are the worst labels, because a
/// page truncates them before they differ.
bool is_list(const std::vector<RunGroup>& groups, const std::string& key) {
  return std::ranges::any_of(groups, [&](const RunGroup& group) {
    const std::string value = text_of(group.keys, key);
    return value.starts_with('[') || value.starts_with('{');
  });
}

std::vector<std::string> differing_keys(const std::vector<RunGroup>& groups) {
  std::set<std::string> all;
  for (const RunGroup& group : groups)
    for (const auto& [key, value] : group.keys) all.insert(key);
  std::vector<std::string> differ;
  for (const std::string& key : all) {
    const std::string first = text_of(groups.front().keys, key);
    if (std::ranges::any_of(groups,
                            [&](const RunGroup& g) { return text_of(g.keys, key) != first; }))
      differ.push_back(key);
  }
  std::ranges::stable_sort(differ, {}, [&](const std::string& key) {
    return std::pair(is_list(groups, key), rank_of(key));
  });
  return differ;
}

/// Keeps the columns needed to distinguish the groups: drops a key, worst ranked first, if the
/// others suffice without it.
void choose_columns(RunTable& table) {
  std::vector<std::string> columns = differing_keys(table.groups);
  for (std::size_t k = columns.size(); k-- > 0;) {
    std::vector<std::string> fewer = columns;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    if (!distinct(table.groups, fewer)) continue;
    // A method with only one order has it without a key in the file: no difference to report.
    if (columns[k] != "algorithm.order") table.others.insert(table.others.begin(), columns[k]);
    columns = std::move(fewer);
  }
  table.columns = std::move(columns);
}

/// Uses a sweep's axes, which name groups better than keys do, if all runs belong to one sweep.
bool take_axes(RunTable& table) {
  std::set<std::vector<std::string>> seen;
  std::vector<std::string> axes;
  for (const auto& [axis, label] : table.groups.front().runs.front()->labels) axes.push_back(axis);
  if (axes.empty()) return false;
  for (const RunGroup& group : table.groups) {
    const auto& labels = group.runs.front()->labels;
    std::vector<std::string> values;
    for (const std::string& axis : axes) values.push_back(text_of(labels, axis));
    if (labels.size() != axes.size() || !seen.insert(values).second) return false;
  }
  for (RunGroup& group : table.groups)
    for (const auto& [axis, label] : group.runs.front()->labels) group.keys[axis] = label;
  std::ranges::stable_sort(axes, {}, rank_of);
  table.columns = axes;
  return true;
}

/// Returns the number at the beginning of the text and its length, or nothing if there is none.
std::optional<std::pair<double, std::size_t>> number_at(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return {};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return {};
  return std::pair(number, static_cast<std::size_t>(end - text.data()));
}

/// Orders texts naturally: numbers in them by value, so that 5 comes before 20.
bool comes_first(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    const auto left = number_at(a), right = number_at(b);
    if (left && right) {
      if (left->first != right->first) return left->first < right->first;
      a.remove_prefix(left->second);
      b.remove_prefix(right->second);
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() != b.size() ? a.size() < b.size() : whole_a < whole_b;
}

std::string last_word(const std::string& key) {
  return key.substr(key.rfind('.') + 1);
}

struct Knot {
  double at, value;
};

/// Returns the evaluations that have both values, in ascending order of `at`.
std::vector<Knot> knots_of(const StoredRun& run, CurveAxis axis, CurveFigure figure) {
  std::vector<Knot> knots;
  for (const MetricsRow& e : run.evaluations) {
    const auto at = along(e, axis);
    const auto value = shown(e, figure);
    if (at && value && (knots.empty() || *at > knots.back().at)) knots.push_back({*at, *value});
  }
  return knots;
}

/// Interpolates between the neighbouring knots; after the last one, its value stays.
double value_at(const std::vector<Knot>& knots, double at) {
  const auto right = std::ranges::lower_bound(knots, at, {}, &Knot::at);
  if (right == knots.end()) return knots.back().value;
  if (right == knots.begin() || right->at == at) return right->value;
  const Knot& left = *std::prev(right);
  const double part = (at - left.at) / (right->at - left.at);
  return left.value + part * (right->value - left.value);
}

/// Returns the places of all knots in `from` .. `to`, or `most` even places if these are more.
std::vector<double> places_of(const std::vector<std::vector<Knot>>& runs,
                              double from,
                              double to,
                              std::size_t most) {
  std::vector<double> places;
  for (const auto& knots : runs)
    for (const Knot& knot : knots)
      if (knot.at >= from && knot.at <= to) places.push_back(knot.at);
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  if (places.size() <= most) return places;
  places.clear();
  for (std::size_t k = 0; k < most; ++k)
    places.push_back(from + (to - from) * static_cast<double>(k) / static_cast<double>(most - 1));
  return places;
}

}  // namespace

bool tells_runs_apart(const std::string& key) {
  if (std::ranges::find(other_keys, key) != other_keys.end()) return false;
  return std::ranges::none_of(other_rooms, [&](auto room) { return key.starts_with(room); });
}

RunTable group_runs(const std::vector<StoredRun>& runs) {
  std::vector<const StoredRun*> sorted;
  for (const StoredRun& run : runs) sorted.push_back(&run);
  std::ranges::sort(sorted, [](const StoredRun* a, const StoredRun* b) {
    return std::tie(a->seed, a->began, a->path) < std::tie(b->seed, b->began, b->path);
  });
  std::map<std::map<std::string, std::string>, std::vector<const StoredRun*>> groups;
  RunTable table;
  for (const StoredRun* run : sorted) {
    auto& same = groups[identity_of(*run)];
    if (!same.empty() && same.back()->seed == run->seed) {
      table.notes.push_back(fmt::format("{} is left out: {} is later, with the same seed",
                                        same.back()->shown, run->shown));
      same.pop_back();
    }
    same.push_back(run);
  }
  for (auto& [keys, same] : groups) table.groups.push_back({keys, {}, same});
  if (table.groups.empty()) return table;
  if (!take_axes(table)) choose_columns(table);
  for (RunGroup& group : table.groups)
    for (const std::string& column : table.columns)
      group.values.push_back(text_of(group.keys, column));
  std::ranges::stable_sort(table.groups, [](const RunGroup& a, const RunGroup& b) {
    return std::ranges::lexicographical_compare(a.values, b.values, comes_first);
  });
  std::ranges::sort(table.notes);
  return table;
}

std::vector<std::string> columns_named(const RunTable& table, const std::string& name) {
  std::set<std::string> all(table.columns.begin(), table.columns.end());
  for (const RunGroup& group : table.groups)
    for (const auto& [key, value] : group.keys) all.insert(key);
  if (all.contains(name)) return {name};
  std::vector<std::string> inside;
  for (const std::string& key : all)
    if (key.starts_with(name + ".")) inside.push_back(key);
  // Leaves out a prefix's keys that are equal everywhere.
  std::erase_if(inside, [&](const std::string& key) {
    return std::ranges::all_of(table.groups, [&](const RunGroup& g) {
      return text_of(g.keys, key) == text_of(table.groups.front().keys, key);
    });
  });
  if (!inside.empty()) return inside;
  throw std::invalid_argument(fmt::format(
      "--by {}: these runs do not differ in it\nhelp:  {}", name,
      table.columns.empty() ? std::string("they differ in their seeds alone")
                            : fmt::format("they differ in {}", fmt::join(table.columns, ", "))));
}

std::string value_of(const RunGroup& group, const std::string& column) {
  return text_of(group.keys, column);
}

std::string label_of(const RunTable& table,
                     const RunGroup& group,
                     const std::vector<std::string>& but) {
  std::string label;
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    const std::string& column = table.columns[k];
    const std::string& value = group.values[k];
    if (value.empty() || std::ranges::find(but, column) != but.end()) continue;
    label += label.empty() ? "" : " ";
    label += is_word(value) ? value : last_word(column) + " " + value;
  }
  return label.empty() ? group.runs.front()->algorithm : label;
}

double clock_of(const MetricsRow& e) {
  return e.training_seconds.value_or(e.seconds);
}

std::optional<double> along(const MetricsRow& e, CurveAxis axis) {
  switch (axis) {
    case CurveAxis::rounds:
      return static_cast<double>(e.round);
    case CurveAxis::seconds:
      return clock_of(e);
    case CurveAxis::bytes:
      return e.sent_bytes;
    case CurveAxis::epochs:
      return e.epoch;
    case CurveAxis::frames:
      return e.frames;
  }
  return std::nullopt;
}

std::optional<double> shown(const MetricsRow& e, CurveFigure figure) {
  std::optional<double> value;
  switch (figure) {
    case CurveFigure::accuracy:
      value = e.accuracy;
      break;
    case CurveFigure::worst_accuracy:
      value = e.accuracy_min;
      break;
    case CurveFigure::loss:
      value = e.loss;
      break;
    case CurveFigure::local_loss:
      value = e.loss_local;
      break;
    case CurveFigure::consensus:
      value = e.consensus;
      break;
    case CurveFigure::mean_return:
      if (e.frames) value = -e.loss;
      break;
    case CurveFigure::local_return:
      if (e.frames) value = -e.loss_local;
      break;
  }
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::vector<CurvePoint> curve_of(const RunGroup& group,
                                 CurveAxis axis,
                                 CurveFigure figure,
                                 std::size_t most) {
  std::vector<std::vector<Knot>> runs;
  for (const StoredRun* run : group.runs) {
    runs.push_back(knots_of(*run, axis, figure));
    if (runs.back().empty()) return {};
  }
  if (runs.empty() || most < 2) return {};
  double from = runs.front().front().at;
  double to = runs.front().back().at;
  for (const auto& knots : runs) {
    from = std::max(from, knots.front().at);
    to = std::max(to, knots.back().at);
  }
  std::vector<CurvePoint> curve;
  for (const double at : places_of(runs, from, to, most)) {
    CurvePoint point{.at = at};
    double sum = 0, squares = 0;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const double value = value_at(runs[r], at);
      sum += value;
      squares += value * value;
      point.least = r == 0 ? value : std::min(point.least, value);
      point.most = r == 0 ? value : std::max(point.most, value);
    }
    const auto n = static_cast<double>(runs.size());
    point.mean = sum / n;
    if (n > 1) point.deviation = std::sqrt(std::max(0.0, (squares - sum * point.mean) / (n - 1)));
    curve.push_back(point);
  }
  return curve;
}

}  // namespace gv

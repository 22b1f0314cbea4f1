#include "peer/study/sweep/plan/tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "graph/spec/parameters.h"
#include "optim/mapped.h"
#include "peer/fleet/json/json.h"
#include "peer/study/compare/statistics.h"

namespace gv {
namespace {

constexpr std::array<std::uint64_t, 16> primes{2,  3,  5,  7,  11, 13, 17, 19,
                                               23, 29, 31, 37, 41, 43, 47, 53};

/// Returns the Halton coordinate; knobs beyond the number of primes reuse them with an offset.
double halton(std::uint64_t index, std::size_t knob) {
  const std::uint64_t lap = knob / primes.size();
  return radical_inverse(index + 409 * lap, primes[knob % primes.size()]);
}

std::string number_text(const TuningKnob& knob, double value) {
  return knob.whole ? fmt::format("{}", std::llround(value)) : fmt::format("{:.4g}", value);
}

double between(const TuningKnob& knob, double u) {
  if (knob.scale == TuningKnob::Scale::log) return knob.low * std::pow(knob.high / knob.low, u);
  return knob.low + u * (knob.high - knob.low);
}

SweepSet set_to(const TuningKnob& knob, const std::string& text) {
  return {knob.key, knob.key + "=" + text, knob.place};
}

/// Returns step `k` of `steps` even steps from end to end; a single step is in the middle.
std::string step_of(const TuningKnob& knob, std::size_t k, std::size_t steps) {
  if (knob.scale == TuningKnob::Scale::list) return knob.words[k];
  const double u = steps == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(steps - 1);
  return number_text(knob, between(knob, u));
}

/// Returns the number of steps per knob: all values of each list, and for ranges as many as keep
/// the grid within `room` points, one more in turn.
std::vector<std::size_t> steps_of(const std::vector<TuningKnob>& knobs, std::size_t room) {
  std::vector<std::size_t> steps(knobs.size(), 1);
  for (std::size_t j = 0; j < knobs.size(); ++j)
    if (knobs[j].scale == TuningKnob::Scale::list) steps[j] = knobs[j].words.size();
  const auto product = [&] {
    std::size_t all = 1;
    for (const std::size_t count : steps) all *= count;
    return all;
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t j = 0; j < knobs.size(); ++j) {
      if (knobs[j].scale == TuningKnob::Scale::list) continue;
      ++steps[j];
      if (product() > room)
        --steps[j];
      else
        grown = true;
    }
  }
  return steps;
}

std::vector<TuningPoint> grid_of(const std::vector<TuningKnob>& knobs, std::size_t room) {
  std::vector<TuningPoint> points;
  const std::vector<std::size_t> steps = steps_of(knobs, room);
  std::vector<std::size_t> at(knobs.size(), 0);
  for (;;) {
    TuningPoint point;
    for (std::size_t j = 0; j < knobs.size(); ++j)
      point.push_back(set_to(knobs[j], step_of(knobs[j], at[j], steps[j])));
    points.push_back(std::move(point));
    std::size_t j = 0;
    while (j < knobs.size() && ++at[j] == steps[j]) at[j++] = 0;
    if (j == knobs.size()) return points;
  }
}

std::vector<TuningPoint> halton_points(const std::vector<TuningKnob>& knobs, std::size_t count) {
  std::vector<TuningPoint> points(count);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t j = 0; j < knobs.size(); ++j)
      points[k].push_back(set_to(knobs[j], value_at(knobs[j], halton(k + 1, j))));
  return points;
}

/// Returns the distance of a metrics.jsonl line from the target, by loss or accuracy; at most 0 if
/// it is reached.
double distance(const JsonValue& line, const TargetSpec& target) {
  const bool mean = target.whose == TargetSpec::Whose::mean;
  if (target.figure == TargetSpec::Figure::accuracy)
    return target.value - json_number(line, mean ? "accuracy" : "accuracy_min");
  return json_number(line, mean ? "loss" : "loss_local") - target.value;
}

/// Returns 1 - accuracy or the loss, which ranks trials without a target.
double shortfall(const JsonValue& line, bool errs) {
  return errs ? 1 - json_number(line, "accuracy") : json_number(line, "loss");
}

bool has_accuracy(const JsonValue& line) {
  return json_member(line, "accuracy").kind == JsonValue::Kind::number;
}

}  // namespace

std::vector<TuningKnob> knobs_of(const TuningSpec& tune,
                                 const std::map<std::string, std::string>& labels) {
  std::vector<TuningKnob> knobs;
  for (const TuningKnob& knob : tune.knobs)
    if (matches(knob.of, labels)) knobs.push_back(knob);
  return knobs;
}

double radical_inverse(std::uint64_t index, std::uint64_t base) {
  double value = 0;
  double digit = 1;
  for (; index > 0; index /= base) {
    digit /= static_cast<double>(base);
    value += digit * static_cast<double>(index % base);
  }
  return value;
}

std::string value_at(const TuningKnob& knob, double u) {
  if (knob.scale != TuningKnob::Scale::list) return number_text(knob, between(knob, u));
  const auto index = static_cast<std::size_t>(u * static_cast<double>(knob.words.size()));
  return knob.words[std::min(index, knob.words.size() - 1)];
}

std::vector<TuningPoint> points_of(const TuningSpec& tune, const std::vector<TuningKnob>& knobs) {
  if (knobs.empty()) return {};
  if (tune.by == "grid") return grid_of(knobs, tune.trials);
  std::vector<TuningPoint> points = halton_points(knobs, tune.trials - 1);
  points.insert(points.begin(), TuningPoint{});
  return points;
}

std::vector<TuningPoint> points_of(const TuningSpec& tune,
                                   const std::vector<TuningKnob>& knobs,
                                   const KnobRanges& extension) {
  if (knobs.empty()) return {};
  std::vector<TuningKnob> wider = knobs;
  for (TuningKnob& knob : wider)
    if (const auto at = extension.find(knob.key); at != extension.end())
      std::tie(knob.low, knob.high) = at->second;
  return halton_points(wider, (tune.trials + 1) / 2);
}

std::vector<TuningRung> rungs_of(const TuningSpec& tune, std::size_t trials) {
  if (!tune.in_rungs()) return {{trials, 1}};
  std::vector<TuningRung> rungs;
  for (std::size_t points = trials; points >= 1; points /= promoted_of)
    rungs.push_back({points, 1});
  double fraction = 1;
  for (auto rung = rungs.rbegin(); rung != rungs.rend(); ++rung, fraction /= promoted_of)
    rung->fraction = fraction;
  return rungs;
}

TrialScore score_of(const std::string& folder,
                    const std::optional<TargetSpec>& target,
                    bool by_rounds) {
  const std::string path = folder + "/metrics.jsonl";
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  TrialScore score;
  std::optional<std::pair<double, double>> before;  // cost and distance of the previous line
  std::size_t row = 0;                              // consecutive lines at the target
  double arrival = 0;                               // cost at the first line of the row
  for (std::string line; std::getline(in, line);) {
    const JsonValue json = parse_json(line, path);
    if (json_text(json, "event") != "evaluate") continue;
    score.errs = target ? target->figure == TargetSpec::Figure::accuracy : has_accuracy(json);
    const double far = target ? distance(json, *target) : shortfall(json, score.errs);
    const double cost = json_number(json, by_rounds ? "round" : "seconds");
    if (!std::isfinite(far)) {
      score.last = TrialScore::never;
      break;
    }
    score.last = far;
    if (!target) continue;
    row = far <= 0 ? row + 1 : 0;
    if (row == 1)
      arrival =
          before && before->second > 0
              ? before->first + (cost - before->first) * before->second / (before->second - far)
              : cost;
    if (row >= target->in_a_row && score.cost == TrialScore::never) score.cost = arrival;
    before = {cost, far};
  }
  return score;
}

TrialScore median_score(const std::vector<TrialScore>& scores) {
  return {middle(mapped(scores, &TrialScore::cost)), middle(mapped(scores, &TrialScore::last)),
          scores.front().errs};
}

std::vector<std::size_t> ranking(const std::vector<TrialScore>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return scores[a].before(scores[b]); });
  return order;
}

std::vector<TuningEdge> edges_of(const std::vector<TuningKnob>& knobs,
                                 const std::vector<std::vector<std::string>>& tried,
                                 std::size_t best) {
  std::vector<TuningEdge> edges;
  if (tried[best].empty()) return edges;  // values that are not known
  for (std::size_t j = 0; j < knobs.size(); ++j) {
    std::vector<double> values;
    for (const auto& point : tried)
      if (!point.empty())
        if (const auto value = as_number<double>(point[j])) values.push_back(*value);
    const auto own = as_number<double>(tried[best][j]);
    if (!own || values.size() < 3) continue;
    const auto [least, most] = std::ranges::minmax(values);
    if (least == most || (*own != least && *own != most)) continue;
    const std::string name = knobs[j].key.substr(knobs[j].key.rfind('.') + 1);
    const bool largest = *own == most;
    edges.push_back({knobs[j].key, largest,
                     fmt::format("{} {} is the {} tried", name, tried[best][j],
                                 largest ? "largest" : "smallest"),
                     knobs[j].scale == TuningKnob::Scale::list});
  }
  return edges;
}

KnobRanges beyond(const std::vector<TuningEdge>& edges,
                  const std::vector<TuningKnob>& knobs,
                  const std::vector<KnobRanges>& before) {
  KnobRanges ranges;
  for (const TuningEdge& edge : edges) {
    const auto knob = std::ranges::find(knobs, edge.key, &TuningKnob::key);
    if (knob == knobs.end() || knob->scale == TuningKnob::Scale::list) continue;
    double low = knob->low;
    double high = knob->high;
    for (const KnobRanges& extension : before)
      if (const auto at = extension.find(edge.key); at != extension.end()) {
        low = std::min(low, at->second.first);
        high = std::max(high, at->second.second);
      }
    const bool log = knob->scale == TuningKnob::Scale::log;
    const double half = log ? std::sqrt(knob->high / knob->low) : (knob->high - knob->low) / 2;
    const double wider =
        edge.largest ? (log ? high * half : high + half) : (log ? low / half : low - half);
    const std::pair<double, double> part =
        edge.largest ? std::pair(high, wider) : std::pair(wider, low);
    // If methods are at both ends, the part includes everything between.
    const auto [at, is_new] = ranges.try_emplace(edge.key, part);
    if (!is_new)
      at->second = {std::min(at->second.first, part.first),
                    std::max(at->second.second, part.second)};
  }
  return ranges;
}

}  // namespace gv

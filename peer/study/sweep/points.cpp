#include "peer/study/sweep/points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

namespace gv {
namespace {

constexpr std::array<std::uint64_t, 16> primes{
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};

/// Knobs beyond the primes share them, displaced.
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

/// Step `k` of `steps` even ones, both ends among them; of one step the middle.
std::string step_of(const TuningKnob& knob, std::size_t k, std::size_t steps) {
  if (knob.scale == TuningKnob::Scale::list) return knob.words[k];
  const double u = steps == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(steps - 1);
  return number_text(knob, between(knob, u));
}

/// Counts all values of each list, and as many steps of each range, one more in turn, as make at
/// most `room` points together.
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

TuningPoint halton_point(const std::vector<TuningKnob>& knobs, std::uint64_t index) {
  TuningPoint point;
  for (std::size_t j = 0; j < knobs.size(); ++j)
    point.push_back(set_to(knobs[j], value_at(knobs[j], halton(index, j))));
  return point;
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
  std::vector<TuningPoint> points(1);
  for (std::uint64_t index = 1; points.size() < tune.trials; ++index)
    points.push_back(halton_point(knobs, index));
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
  std::vector<TuningPoint> points;
  for (std::uint64_t index = 1; points.size() < (tune.trials + 1) / 2; ++index)
    points.push_back(halton_point(wider, index));
  return points;
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

}  // namespace gv

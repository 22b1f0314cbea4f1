#include "peer/cli/plan_gain.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "gossip/drawn_workers.h"
#include "peer/record/report/console.h"
#include "peer/runtime/open_remedies.h"

namespace gv::cli {
namespace {

constexpr double worth_a_change = 1.1;
constexpr double unequal = 1.5;  ///< the slowest peer's seconds over what all would take together
constexpr std::uint32_t more_steps = 8;

/// Counts the samples of a round; where it draws those that train, so many on average.
std::vector<double> samples_of(const Assembly& fleet) {
  const auto part = fleet.setup->settings.find(fraction_option.name);
  const bool all = part == fleet.setup->settings.end();
  const double trains = all ? 1 : static_cast<double>(draws(*fleet.setup)) / fleet.setup->peers;
  const auto steps_of = fleet.algorithm->steps;  // on average over the rounds
  std::vector<double> samples;
  for (PeerId i = 0; i < fleet.fleet.trainers(); ++i) {
    const double steps =
        steps_of != nullptr ? steps_of(*fleet.setup, i) : trains * fleet.setup->steps_of(i);
    samples.push_back(fleet.fleet.batch_of(i) * steps);
  }
  return samples;
}

/// The slowest peer's seconds over those in which all together would have computed the same.
double imbalance(std::span<const double> samples, std::span<const double> seconds) {
  double speed = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) speed += samples[i] / seconds[i];
  const double together = std::accumulate(samples.begin(), samples.end(), 0.0) / speed;
  return std::ranges::max(seconds) / together;
}

Gain without_changes(const Assembly& fleet, const RoundPrediction& round) {
  const std::vector<double> samples = samples_of(fleet);
  const std::vector<double> seconds = seconds_alone(fleet);
  Gain gain;
  double fastest = 0;
  for (PeerId i = 0; i < samples.size(); ++i) {
    const double pace = fleet.fleet.batch_of(i) * fleet.setup->steps_of(i) / seconds[i];
    if (pace > fastest) fastest = pace, gain.fastest = i;
  }
  const double all = std::accumulate(samples.begin(), samples.end(), 0.0);
  gain.times = all / round.seconds_per_round / fastest;
  gain.network_part = round.network_seconds / round.seconds_per_round;
  if (gain.network_part > 0.5) {
    gain.limit = Gain::Limit::network;
  } else if (fleet.algorithm->synchronous && imbalance(samples, seconds) > unequal) {
    gain.limit = Gain::Limit::slowest;
  }
  return gain;
}

/// Returns what this fleet could do about its limit, as keys to set.
std::vector<std::string> sets_against(const Gain& gain, const Assembly& fleet) {
  const Remedies can = remedies_of(fleet);
  if (gain.limit == Gain::Limit::slowest)
    return can.unequal_work ? std::vector<std::string>{"train.batch=auto"}
                            : std::vector<std::string>{};
  std::vector<std::string> sets;
  if (gain.limit != Gain::Limit::network) return sets;
  if (can.local_steps)
    sets.push_back(fmt::format("train.local_steps={}", more_steps * fleet.fleet.local_steps));
  if (can.codec) sets.emplace_back("algorithm.codec=int8");
  return sets;
}

/// Tries a key; nothing where it cannot be set so.
std::optional<Gain::Change> tried(const FleetOptions& options, const std::string& set) {
  FleetOptions other = options;
  other.sets.push_back(set);
  try {
    constexpr bool silently = true;
    const Assembly fleet = assemble(other, std::nullopt, silently);
    return Gain::Change{set, without_changes(fleet, predict_round(fleet)).times};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string_view name_of(Gain::Limit limit) {
  switch (limit) {
    case Gain::Limit::network:
      return "network";
    case Gain::Limit::slowest:
      return "slowest";
    case Gain::Limit::arithmetic:
      return "arithmetic";
  }
  return "";
}

/// Returns "4 times as fast" or, below 1, "160 times slower".
std::string factor_text(double times) {
  if (times >= 1 || times <= 0) return fmt::format("{:.3g} times as fast", times);
  const double slower = 1 / times;
  return slower < 1000 ? fmt::format("{:.3g} times slower", slower)
                       : fmt::format("{:.0f} times slower", slower);
}

std::string limit_text(const Gain& gain) {
  switch (gain.limit) {
    case Gain::Limit::network:
      return fmt::format("the network limits it, {:.0f} % of a round", 100 * gain.network_part);
    case Gain::Limit::slowest:
      return "the slowest peer limits it";
    case Gain::Limit::arithmetic:
      return "arithmetic limits it";
  }
  return "";
}

}  // namespace

std::optional<Gain> gain_of(const Assembly& fleet,
                            const RoundPrediction& round,
                            const FleetOptions& options) {
  if (fleet.fleet.parallel || fleet.fleet.trainers() < 2) return std::nullopt;
  Gain gain = without_changes(fleet, round);
  if (fleet.fleet.program) return gain;
  for (const std::string& set : sets_against(gain, fleet)) {
    const std::optional<Gain::Change> change = tried(options, set);
    if (change && change->times > worth_a_change * gain.times) gain.changes.push_back(*change);
  }
  std::ranges::sort(gain.changes, std::greater{}, &Gain::Change::times);
  return gain;
}

std::string gain_text(const std::optional<Gain>& gain) {
  if (!gain) return "";
  std::string text = fmt::format("gain   {}{} peer {} alone, the fastest: {}",
                                 factor_text(gain->times),
                                 gain->times >= 1 ? " as" : " than",
                                 gain->fastest,
                                 limit_text(*gain));
  std::string_view between = "; ";
  for (const Gain::Change& change : gain->changes) {
    text += fmt::format("{}with `--set {}` {}", between, change.set, factor_text(change.times));
    between = ", ";
  }
  return wrapped(text, 7) + "\n";
}

Json gain_json(const std::optional<Gain>& gain) {
  if (!gain) return nullptr;
  Json changes = Json::array();
  for (const Gain::Change& change : gain->changes)
    changes.push_back({{"set", change.set}, {"times", change.times}});
  return {{"times", gain->times},
          {"fastest", gain->fastest},
          {"network_part", gain->network_part},
          {"limit", name_of(gain->limit)},
          {"changes", changes}};
}

}  // namespace gv::cli

#include "peer/cli/plan/plan_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "gossip/servers/servers.h"
#include "peer/fleet/read/work_shares.h"
#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/views.h"
#include "peer/study/predict/forecast/advice.h"

namespace gv::cli {

std::vector<std::uint32_t> batches_of(const Fleet& fleet) {
  std::vector<std::uint32_t> batches;
  for (PeerId i = 0; i < fleet.trainers(); ++i) batches.push_back(fleet.peers[i].batch);
  return batches;
}

namespace {

/// Returns "64" or "16 .. 144, 64 on average (...)".
std::string batch_text(const Fleet& fleet) {
  const std::vector<std::uint32_t> batches = batches_of(fleet);
  const auto [least, most] = std::ranges::minmax(batches);
  if (least == most) return fmt::format("{}", least);
  double sum = 0;
  for (const std::uint32_t batch : batches) sum += batch;
  return fmt::format(
      "{} .. {}, {:.4g} on average (the fleet's gradient has {:.3g} times the "
      "variance of equal ones)",
      least, most, sum / static_cast<double>(batches.size()), noise_of_unequal(batches));
}

/// Prints the factors by which the rate follows the batch: only the program knows the rate itself.
void print_own_rate(const BatchAdvice& advice) {
  const double times = advice.together / advice.alone;
  fmt::print(
      "rate   the program's own; if it was tuned for {:.4g} samples, then for {:.4g}: {:.3g}\n"
      "       times as high by linear scaling (SGD, Goyal et al. 2017), {:.3g} times by the\n"
      "       square root (Adam, Malladi et al. 2022)\n",
      advice.alone, advice.together, times, std::sqrt(times));
}

constexpr double least_gain = 1.1;
constexpr double unequal = 1.5;  ///< slowest peer's seconds relative to all sharing the work
constexpr std::uint32_t more_steps = 8;

/// Returns the samples of a round; an average if the peers that train are drawn.
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

/// Returns the slowest peer's seconds relative to those of all peers sharing the same work.
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
  gain.network_part = round.network_seconds() / round.seconds_per_round;
  if (gain.network_part > 0.5) {
    gain.limit = Gain::Limit::network;
  } else if (fleet.algorithm->synchronous && imbalance(samples, seconds) > unequal) {
    gain.limit = Gain::Limit::slowest;
  }
  return gain;
}

/// Returns the key by which peers of equal batches get samples by their speeds, as many together.
std::string batch_by_speed(const Fleet& fleet) {
  const std::uint32_t mean = fleet.peers.front().batch;
  return mean == PeerSpec{}.batch ? "train.batch=auto"
                                  : fmt::format("train.batch={{ kind: auto, mean: {} }}", mean);
}

/// Returns the keys to set against the fleet's limit.
std::vector<std::string> sets_against(const Gain& gain, const Assembly& fleet) {
  const Remedies can = remedies_of(fleet);
  if (gain.limit == Gain::Limit::slowest)
    return std::vector<std::string>(can.unequal_work ? 1 : 0, batch_by_speed(fleet.fleet));
  std::vector<std::string> sets;
  if (gain.limit != Gain::Limit::network) return sets;
  if (can.local_steps)
    sets.push_back(fmt::format("train.local_steps={}", more_steps * fleet.fleet.local_steps));
  if (can.codec) sets.emplace_back("algorithm.codec=int8");
  return sets;
}

/// Tries a key; returns nothing if it cannot be set.
std::optional<Gain::Change> tried(const FleetOptions& options, const std::string& set) {
  FleetOptions other = options;
  other.sets.push_back(set);
  try {
    constexpr bool silently = true;
    const Assembly fleet = assemble_apart(other, silently);
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

std::string speed_limit_text(const Gain& gain) {
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

void print_batch(const Assembly& fleet) {
  if (!fleet.data.train && !fleet.fleet.program)
    return;  // gradients of an oracle or an agent come from no samples of a set
  const BatchAdvice advice = batch_advice(fleet);
  fmt::print("batch  {}\n", batch_text(fleet.fleet));
  if (advice.together <= advice.alone) return;
  fmt::print("       {:.4g} samples together in a step of the fleet's model\n", advice.together);
  if (has_own_rate(fleet)) return print_own_rate(advice);
  fmt::print(
      "rate   {:.4g}; if it was tuned for {:.4g} samples, then for {:.4g}: {:.3g} by linear\n"
      "       scaling (SGD, Goyal et al. 2017), {:.3g} by the square root (Adam, Malladi\n"
      "       et al. 2022)\n",
      fleet.fleet.optimizer.lr, advice.alone, advice.together, advice.linear, advice.square_root);
  if (advice.warmup > 0 && fleet.fleet.optimizer.schedule.warmup == 0)
    fmt::print(
        "       with the linear one, `train.optimizer.warmup: {}`: five epochs, or a\n"
        "       tenth of the run\n",
        advice.warmup);
}

void print_noise_scale(const Assembly& fleet, const FleetCalibration& calibration) {
  const std::uint32_t batch = fleet.fleet.peers[0].batch;
  const double first = noise_scale(calibration.points.front(), batch);
  const double last = noise_scale(calibration.points.back(), batch);
  const double together = batch_advice(fleet).together;
  fmt::print(
      "critical batch (gradient noise scale): {:.3g} samples at the start, {:.3g} at the\n"
      "  end; the fleet's {:.4g} are {} it\n  (McCandlish et al. 2018)\n",
      first, last, together,
      together > last    ? "beyond"
      : together > first ? "beyond it at the start and then below"
                         : "below");
}

Json scaling_json(const Assembly& fleet, const std::optional<FleetCalibration>& calibration) {
  const BatchAdvice advice = batch_advice(fleet);
  const bool known = !has_own_rate(fleet);
  Json json{{"batch_alone", advice.alone},
            {"batch_together", advice.together},
            {"lr", known ? Json(fleet.fleet.optimizer.lr) : Json()},
            {"lr_linear", known ? Json(advice.linear) : Json()},
            {"lr_square_root", known ? Json(advice.square_root) : Json()},
            {"warmup_steps", known ? Json(advice.warmup) : Json()}};
  if (!calibration) return json;
  for (const FleetCalibration::Point& point : calibration->points)
    json["noise_scale"].push_back({{"training_time", point.time},
                                   {"samples", noise_scale(point, fleet.fleet.peers[0].batch)}});
  return json;
}

std::optional<Gain> gain_of(const Assembly& fleet,
                            const RoundPrediction& round,
                            const FleetOptions& options) {
  if (fleet.fleet.parallel || fleet.fleet.trainers() < 2) return std::nullopt;
  Gain gain = without_changes(fleet, round);
  if (fleet.fleet.program) return gain;
  for (const std::string& set : sets_against(gain, fleet)) {
    const std::optional<Gain::Change> change = tried(options, set);
    if (change && change->times > least_gain * gain.times) gain.changes.push_back(*change);
  }
  std::ranges::sort(gain.changes, std::greater{}, &Gain::Change::times);
  return gain;
}

std::string gain_text(const std::optional<Gain>& gain) {
  if (!gain) return "";
  std::string text =
      fmt::format("gain   {}{} peer {} alone, the fastest: {}", factor_text(gain->times),
                  gain->times >= 1 ? " as" : " than", gain->fastest, speed_limit_text(*gain));
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

std::string crowded_note(const Assembly& fleet) {
  PeerId crowded = 0;
  for (PeerId i = 0; i < fleet.partition.size(); ++i)
    if (fleet.fleet.batch_of(i) > fleet.partition[i].size()) ++crowded;
  if (crowded == 0) return "";
  return fmt::format(
      "note   {} of {} peers have fewer samples than their batch: each minibatch\n"
      "       repeats some; take a smaller `train.batch` or fewer peers\n",
      crowded, fleet.fleet.models());
}

std::string thin_note(const Assembly& fleet) {
  const std::string& name = fleet.topology.name;
  if (name.find(":1x") == std::string::npos || fleet.fleet.models() < 4) return "";
  return fmt::format("note   {} peers make no rectangle: {} is a {}\n", fleet.fleet.models(), name,
                     name.starts_with("torus") ? "ring" : "path");
}

std::string unequal_note(const Assembly& fleet) {
  constexpr double worth_saying = 1.5;
  const std::span peers(fleet.fleet.peers.data(), fleet.fleet.trainers());
  PeerId slowest = 0;
  double longest = 0;
  double samples = 0;
  double speed = 0;
  for (PeerId i = 0; i < peers.size(); ++i) {
    const double work = static_cast<double>(peers[i].batch) * fleet.setup->steps_of(i);
    if (work / peers[i].speed > longest) slowest = i;
    longest = std::max(longest, work / peers[i].speed);
    samples += work;
    speed += peers[i].speed;
  }
  const double gain = longest / (samples / speed);
  if (!fleet.algorithm->synchronous || fleet.fleet.parallel || gain < worth_saying) return "";
  const bool steps = fleet.fleet.local_steps > 1;
  return fmt::format(
      "note   the others wait for peer {}, whose {} {:.1f} times as long as\n"
      "       all would with `train.{}: auto`, or take ad-psgd, which does not wait\n",
      slowest, steps ? "steps take" : "gradient takes", gain, steps ? "local_steps" : "batch");
}

std::string placement_note(const Assembly& fleet) {
  const NetworkSpec& network = fleet.fleet.network;
  const bool unlike = !network.links.empty() || !network.cards.empty();
  const std::size_t n = fleet.fleet.trainers();
  const bool all_alike = fleet.topology.name == "complete" || n < 4;
  if (!unlike || all_alike || !fleet.is_plain_d_psgd() || !fleet.w) return "";
  return "note   the links differ: `--place GRAPH` finds the place of each peer on\n"
         "       the graph that makes a round shortest\n";
}

std::string network_note(const Assembly& fleet) {
  const NetworkSpec& network = fleet.fleet.network;
  if (network.latency.count() > 0 || network.bandwidth > 0 || !network.links.empty()) return "";
  return "note   the file gives no `network`, so messages take no time here. Write\n"
         "       its latency and bandwidth: `grapevine bench links` measures them\n"
         "       between machines, `grapevine bench exchange` on this one\n";
}

std::string memory_note(const Assembly& fleet, std::optional<std::uint64_t> free) {
  const auto here = static_cast<double>(
      std::ranges::count(fleet.fleet.peers, std::string("localhost"), &PeerSpec::host));
  const double models = fleet.models_held(here);
  const double least = 8 * models * static_cast<double>(fleet.dimension);
  if (!free || least <= static_cast<double>(*free)) return "";
  return fmt::format("note   x and gradient of {} peers on this machine take {}, and {} are free\n",
                     here, bytes_text(least), bytes_text(static_cast<double>(*free)));
}

}  // namespace gv::cli

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/fleet_options.h"
#include "peer/cli/plan/plan_text.h"
#include "peer/cli/run/run_screen.h"
#include "peer/fleet/fleet.h"
#include "peer/fleet/read/work_shares.h"
#include "peer/record/report/screen.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/views.h"
#include "peer/study/predict/calibrate/calibrated_forecast.h"
#include "peer/study/predict/forecast/advice.h"
#include "peer/study/predict/forecast/forecast.h"
#include "peer/study/predict/forecast/round_prediction.h"
#include "peer/study/sweep/trial_job.h"
#include "peer/wire/frame/frame.h"

namespace gv::cli {
namespace {

// Output of `plan` about the local steps of a fleet.

/// Returns "1 local step", "4 local steps" or "1 .. 9 local steps, 4 on average".
std::string local_steps_text(const Fleet& fleet) {
  if (fleet.own_steps.empty()) return counted(fleet.local_steps, "local step");
  const auto [least, most] = std::ranges::minmax(fleet.own_steps);
  return fmt::format("{} .. {} local steps, {} on average", least, most, fleet.local_steps);
}

/// Returns a note on the peers' rates if their numbers of steps differ, else "".
std::string own_rates_note(const Fleet& fleet) {
  if (fleet.own_steps.empty()) return "";
  const auto [least, most] = std::ranges::minmax(fleet.own_steps);
  const double mean = fleet.local_steps;
  return fmt::format(
      "       each at lr times {} / its steps, {:.3g} .. {:.3g} lr, so that all count\n"
      "       alike (FedNova, Wang et al. 2020)\n",
      fleet.local_steps, mean / most, mean / least);
}

/// Returns the basis of the steps' seconds: the scout alone, and a factor for shared cores.
std::string sharing_text(const Fleet& fleet) {
  const double times = crowding(fleet);
  if (times == 1) return "one peer alone";
  return fmt::format("one alone, times {:.3g} for the cores that they share", times);
}

/// Returns whether the run has no end of its own, and so no total time.
bool endless(const Assembly& fleet) {
  return fleet.rounds == std::numeric_limits<Round>::max();
}

/// Returns the seconds that the alpha-beta model predicts for a round and for the run, as
/// `predicted` of `plan --json`.
Json predicted_json(const Assembly& fleet, const RoundPrediction& round) {
  const double seconds = round.seconds_per_round * static_cast<double>(fleet.rounds);
  return {{"seconds_per_round", round.seconds_per_round},
          {"compute_seconds", round.compute_seconds},
          {"network_seconds", round.network_seconds()},
          {"network_shape", name_of(fleet.fleet.network.shape)},
          {"seconds", endless(fleet) ? Json(nullptr) : Json(seconds)}};
}

/// Prints this prediction as the row `time` of `plan`.
void print_prediction(const Assembly& fleet, const RoundPrediction& round) {
  const std::string measured =
      fleet.fleet.program
          ? "as the program's steps took, " + sharing_text(fleet.fleet)
          : fmt::format("at {:.3g} GFLOP/s\n       (simulate.flops)", fleet.fleet.flops / 1e9);
  const std::string text = fmt::format(
      "time   about {} a round: {} of compute {}, {} of waiting for the network ({})",
      seconds_text(round.seconds_per_round), seconds_text(round.compute_seconds), measured,
      seconds_text(round.network_seconds()), name_of(fleet.fleet.network.shape));
  fmt::print("{}\n", fleet.fleet.program ? wrapped(text, 7) : text);
  if (endless(fleet)) return;
  fmt::print(
      "       about {} in all ({}), as `simulate` counts it, and `run` with\n"
      "       network.emulate\n",
      seconds_text(round.seconds_per_round * static_cast<double>(fleet.rounds)),
      name_of(fleet.fleet.network.shape));
}

/// Returns the bytes that peer i sends in one round of gossip.
double gossip_bytes(const Assembly& fleet, PeerId i) {
  const Message m{.from = 0, .kind = Kind::contribution, .number = 1, .part = 0, .payload = {}};
  const std::uint64_t frame = wire::frame_bytes(m, fleet.dimension * sizeof(float));
  return mean_receivers(fleet, i) * static_cast<double>(frame);
}

struct Sizes {
  std::size_t least = 0, most = 0;
};

Sizes shares(const Assembly& fleet) {
  if (fleet.partition.empty()) return {};
  const auto [low, high] =
      std::ranges::minmax(fleet.partition, {}, [](const auto& rows) { return rows.size(); });
  return {low.size(), high.size()};
}

/// Returns the bytes that the busiest peer sends in one round.
double largest_bytes(const Assembly& fleet, const RoundPrediction& round) {
  if (!fleet.is_plain_d_psgd()) return round.bytes_per_round;
  double most = 0;
  for (PeerId i = 0; i < fleet.fleet.size(); ++i) most = std::max(most, gossip_bytes(fleet, i));
  return most;
}

double setting(const Assembly& fleet, const gv::Option& option) {
  return fleet.setup->settings.find(option.name)->second;
}

struct PlanOptions {
  FleetOptions file;
  ForecastOptions wanted;
  bool calibrate = false;
  double work = 1e12;
  std::vector<std::string> beside;
  std::string place;      ///< a file; "" to skip the search for places
  bool parallel = false;  ///< instead: the benefit of dividing the model
  ParallelQuestion division;
};

FleetCalibration calibrate_aloud(const Assembly& fleet, double work) {
  ProgressLine progress;
  FleetCalibration c = calibrate(
      fleet, [&](const std::string& text) { progress.update(text); }, work);
  progress.clear();
  return c;
}

/// Returns the words of "topology=star algorithm.order=atc".
std::vector<std::string> words_of(const std::string& sets) {
  std::istringstream in(sets);
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    if (!word.starts_with("topology") && !word.starts_with("algorithm.order"))
      throw std::invalid_argument(
          "--beside: only `topology` and `algorithm.order` may differ, not `" + word +
          "`: the calibration depends on it");
    words.push_back(word);
  }
  if (words.empty())
    throw std::invalid_argument("--beside: no value is set; write, for example, topology=star");
  return words;
}

void add_all_beside(FleetForecast& ahead,
                    const PlanOptions& options,
                    const FleetCalibration& calibration) {
  for (const std::string& sets : options.beside) {
    FleetOptions other = options.file;
    for (const std::string& word : words_of(sets)) other.sets.push_back(word);
    const Assembly fleet = assemble_apart(other);
    const std::string why = not_calibrated(fleet);
    if (!why.empty()) throw std::invalid_argument("--beside " + sets + ": " + why);
    const double bytes = largest_bytes(fleet, predict_round(fleet));
    add_beside(ahead, sets, fleet, forecast_alone(fleet, bytes), calibration);
  }
}

/// The calibration, or the reason why no losses are predicted.
struct Calibrated {
  std::optional<FleetCalibration> calibration;
  std::string why_not;
};

Calibrated calibrated(const PlanOptions& options,
                      const Assembly& fleet,
                      std::optional<FleetForecast>& ahead) {
  if (!options.calibrate) return {};
  const std::string why_not = not_calibrated(fleet);
  if (!why_not.empty()) return {std::nullopt, why_not};
  if (!ahead) ahead = forecast_of_all_reduce(fleet);
  Calibrated result{calibrate_aloud(fleet, options.work), ""};
  add_calibrated(*ahead, fleet, *result.calibration, options.wanted.target);
  add_all_beside(*ahead, options, *result.calibration);
  return result;
}

void print_plan_json(const Assembly& fleet,
                     const MixingFigures& s,
                     const std::optional<FleetForecast>& ahead,
                     const RoundPrediction& round,
                     const std::optional<Gain>& gain,
                     const Calibrated& known) {
  const std::optional<FleetCalibration>& calibration = known.calibration;
  const Sizes share = shares(fleet);
  const Json samples = mapped(fleet.partition, [](const auto& rows) { return rows.size(); });
  Json plan{{"schema", "grapevine.plan/1"},
            {"name", fleet.fleet.name},
            {"digest", fleet.fleet.digest},
            {"peers", fleet.fleet.size()},
            {"algorithm", fleet.algorithm->kind},
            {"order", fleet.algorithm->order},
            {"model", fleet.fleet.model.kind},
            {"parameters", fleet.dimension},
            {"batches", batches_of(fleet.fleet)},
            {"batch_noise", noise_of_unequal(batches_of(fleet.fleet))},
            {"local_steps", fleet.fleet.local_steps},
            {"own_steps", fleet.fleet.own_steps},
            {"samples", samples},
            {"samples_min", share.least},
            {"samples_max", share.most},
            {"topology", s.name},
            {"weights", fleet.schedule ? "" : fleet.fleet.weights},
            {"slem", s.slem},
            {"gap", s.gap},
            {"rounds", endless(fleet) ? Json(nullptr) : Json(fleet.rounds)},
            {"bytes_per_round", largest_bytes(fleet, round)}};
  for (const gv::Option& option : fleet.algorithm->options)
    plan["settings"][std::string(option.name)] = setting(fleet, option);
  if (fleet.fleet.codec) plan["codec"] = to_string(*fleet.fleet.codec);
  if (fleet.fleet.clip)
    plan["clip"] = *fleet.fleet.clip == 0 ? Json("auto") : Json(*fleet.fleet.clip);
  if (fleet.fleet.attackers.count > 0) plan["attackers"] = fleet.fleet.attackers.count;
  if (!s.schedule.is_null()) plan["schedule"] = s.schedule;
  add_chains(plan, fleet);
  plan["scaling"] = scaling_json(fleet, calibration);
  add_forecast(plan, ahead);
  if (const std::string warning = codec_warning(fleet); !warning.empty()) plan["warning"] = warning;
  plan["predicted"].update(predicted_json(fleet, round));
  plan["gain"] = gain_json(gain);
  plan["not_predicted"] = known.why_not.empty() ? Json(nullptr) : Json(known.why_not);
  if (calibration) {
    plan["calibration"] = calibration_json(*calibration);
    plan["predicted"].update(calibrated_json(*ahead, fleet, *calibration));
  }
  console::print(plan);
}

void print_what_travels(const Assembly& assembly) {
  const Fleet& fleet = assembly.fleet;
  if (fleet.codec) fmt::print("       codec {}: of what travels\n", to_string(*fleet.codec));
  if (!consensus_key(assembly).empty())
    fmt::print("       step of consensus {:g}\n", assembly.traffic().step);
  if (fleet.clip && *fleet.clip == 0)
    fmt::print("       clips flows that are longer than two of the peers' own steps\n");
  if (fleet.clip && *fleet.clip > 0)
    fmt::print("       clips flows longer than {:g}\n", *fleet.clip);
  if (fleet.attackers.count > 0)
    fmt::print("       the last {} attack by {}, of strength {:g}\n", fleet.attackers.count,
               fleet.attackers.kind, fleet.attackers.strength);
}

void print_text(const Assembly& fleet,
                const MixingFigures& s,
                const std::string& path,
                const std::optional<FleetForecast>& ahead,
                const RoundPrediction& round,
                const std::optional<Gain>& gain,
                const Calibrated& known) {
  const std::optional<FleetCalibration>& calibration = known.calibration;
  const Sizes share = shares(fleet);
  fmt::print("plan   {}: ok\n", path);
  const PeerId servers = fleet.fleet.servers;
  const PeerId suppliers = fleet.fleet.data_servers;
  const PeerId actors = fleet.fleet.actors;
  const std::string act =
      actors == 0 ? "" : fmt::format(" and {} that remember and {} that act", suppliers, actors);
  fmt::print(
      "peers  {}{}{}, algorithm {}{}{}\n", fleet.fleet.trainers(),
      servers == 0 ? "" : fmt::format(" and {} that serve", servers),
      suppliers == 0 || actors > 0 ? act : fmt::format(" and {} that hand out samples", suppliers),
      fleet.algorithm->kind, fleet.algorithm->order.empty() ? "" : " ", fleet.algorithm->order);
  for (const gv::Option& option : fleet.algorithm->options)
    fmt::print("       {} {}: {}\n", option.name, text_of(option, setting(fleet, option)),
               option.help);
  print_what_travels(fleet);
  if (reader_of_parts(fleet.fleet)) {
    fmt::print("data   table: each peer has its own part, {} test\n", fleet.data.test->rows);
  } else if (fleet.data.train) {
    fmt::print("data   {}: {} train in {} parts ({} .. {} samples, {}), {} test\n",
               fleet.fleet.data.kind, fleet.data.train->rows, fleet.fleet.models(), share.least,
               share.most, fleet.fleet.data.partition.kind, fleet.data.test->rows);
  }
  fmt::print("model  {}: {} parameters, {}\n", fleet.fleet.model.kind, fleet.dimension,
             bytes_text(4.0 * static_cast<double>(fleet.dimension)));
  fmt::print("{}", chains_text(fleet));
  fmt::print("{}", memory_note(fleet, free_memory()));
  print_batch(fleet);
  fmt::print("{}{}", crowded_note(fleet), unequal_note(fleet));
  fmt::print("graph  {}\n", s.text);
  fmt::print("{}{}", thin_note(fleet), placement_note(fleet));
  const double bytes = largest_bytes(fleet, round);
  fmt::print("round  {}, then {} out by the busiest peer\n", local_steps_text(fleet.fleet),
             bytes_text(bytes));
  fmt::print("{}", own_rates_note(fleet.fleet));
  if (endless(fleet)) {
    fmt::print("total  until the time or the target of `stop` is reached\n");
  } else {
    fmt::print("total  {} rounds, {} by the busiest peer\n", fleet.rounds,
               bytes_text(bytes * static_cast<double>(fleet.rounds)));
  }
  fmt::print("{}", network_note(fleet));
  print_prediction(fleet, round);
  fmt::print("{}", gain_text(gain));
  if (calibration) {
    fmt::print("{}", calibration_text(*calibration));
    print_noise_scale(fleet, *calibration);
  }
  if (ahead) fmt::print("{}", forecast_text(*ahead));
  if (!known.why_not.empty()) fmt::print("losses are not predicted: {}\n", known.why_not);
  if (const std::string warning = codec_warning(fleet); !warning.empty())
    console::print_wrapped("warning: " + warning, 7);
  fmt::print("nothing was started: grapevine run {}\n", shell_path(path));
}

ParallelQuestion asked_of(const PlanOptions& options) {
  ParallelQuestion question = options.division;
  question.sets = options.file.sets;
  question.json = options.file.json;
  return question;
}

int plan(const PlanOptions& options) {
  const Assembly fleet = assemble_to_plan(options.file);
  if (!options.place.empty())
    return place_peers(fleet, options.file.sets, options.place, options.file.json);
  const ParallelQuestion& division = options.division;
  if ((!division.profile.empty() || division.search > 0) && !options.parallel)
    throw std::invalid_argument("plan: --profile and --search need --parallel");
  if (options.parallel) return divide_model(fleet, asked_of(options));
  const MixingFigures s = mixing_figures(fleet);
  ForecastOptions wanted = options.wanted;
  wanted.schedules = !options.calibrate;  // the calibrated predictor knows one W
  const RoundPrediction round = predict_round(fleet);
  std::optional<FleetForecast> ahead = forecast(fleet, largest_bytes(fleet, round), wanted);
  for (const std::string& sets : options.beside) words_of(sets);
  const Calibrated known = calibrated(options, fleet, ahead);
  const std::optional<Gain> gain = gain_of(fleet, round, options.file);
  options.file.json ? print_plan_json(fleet, s, ahead, round, gain, known)
                    : print_text(fleet, s, options.file.file, ahead, round, gain, known);
  return exit_code::done;
}

void plan_options(Options& options, PlanOptions& arguments) {
  add_fleet_options(options, arguments.file).required();
  options.value(
      "--max-degree", arguments.wanted.max_degree,
      "Maximum number of neighbours per peer in the alternatives, up to 16; 0: as in this fleet");
  options.value("--target", arguments.wanted.target,
                "Excess loss of the local models to reach on a quadratic (default: 1.1 times the "
                "value at which this fleet settles). With --calibrate: training loss to reach "
                "(default: the loss of this fleet after nine tenths of its rounds, but no closer "
                "to its final loss than its noise)");
  options.flag(
      "--calibrate", arguments.calibrate,
      "Train in this process for some seconds to measure curvature, noise and disagreement of the "
      "gradients, and predict the effect of the graph on the real model");
  options
      .value("--work", arguments.work,
             "Maximum number of floating-point operations of the training with --calibrate")
      .range(1e6, 1e18)
      .show_default();
  options
      .value("--place", arguments.place,
             "Find the placement of the peers on the graph with the shortest round, given links "
             "and speeds, and write the graph to this file")
      .call_values("GRAPH");
  options.flag(
      "--parallel", arguments.parallel,
      "Compare dividing the model over the peers with one model per peer and with one peer alone");
  options
      .value("--profile", arguments.division.profile,
             "With --parallel: profile written by `grapevine profile` (default: simulate.profile "
             "of the file, else floating-point operations)")
      .call_values("FILE");
  options
      .value("--search", arguments.division.search,
             "With --parallel: seconds of search for a faster way to divide the model, over "
             "stages, chains, copies, members, microbatches and the order of the peers")
      .call_values("SECONDS")
      .range(0.01, 86400.0);
  options.value("--seed", arguments.division.seed, "Seed of --search")
      .call_values("N")
      .show_default();
  options.value("--beside", arguments.beside,
                "With --calibrate: also predict this fleet with other values, such as "
                "\"topology=star algorithm.order=atc\" (repeatable; all use one calibration)");
}

}  // namespace

Command plan_command() {
  return command(
      "plan", "Check a fleet file and show what it means; starts nothing",
      "  grapevine plan configs/fashion-ring8.yaml\n"
      "  grapevine plan configs/fashion-ring8.yaml --set peers=16 --set topology=hypercube --json\n"
      "  grapevine plan configs/quadratic-ring16.yaml --max-degree 4 --target 0.05\n"
      "  grapevine plan lan.yaml --set links.file=lan.links.yaml --place lan.graph\n"
      "  grapevine plan mlp.yaml --parallel --profile mlp.profile.json\n"
      "  grapevine plan mlp.yaml --parallel --search 10\n"
      "  grapevine plan configs/softmax-torus1024.yaml --set peers=64 --set topology=ring "
      "--calibrate\n"
      "  grapevine plan configs/digits-torus16.yaml --calibrate --beside topology=ring --beside "
      "\"topology=star algorithm.order=atc\"",
      plan_options, plan);
}

}  // namespace gv::cli

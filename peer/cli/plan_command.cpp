#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graph/spectrum.h"
#include "peer/cli/command.h"
#include "peer/report/screen.h"
#include "peer/runtime/round_prediction.h"

namespace gv::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Sizes {
  std::size_t least = 0, most = 0;
};

Sizes shares(const Assembly& fleet) {
  if (fleet.partition.empty()) return {};
  const auto [low, high] =
      std::ranges::minmax(fleet.partition, {}, [](const auto& rows) { return rows.size(); });
  return {low.size(), high.size()};
}

bool endless(const Assembly& fleet) {
  return fleet.rounds == std::numeric_limits<Step>::max();
}

Json predicted_json(const Assembly& fleet, const RoundPrediction& round) {
  const double seconds = round.seconds_per_round * static_cast<double>(fleet.rounds);
  return {{"seconds_per_round", round.seconds_per_round},
          {"compute_seconds", round.compute_seconds},
          {"network_seconds", round.network_seconds},
          {"bytes_per_round", round.bytes_per_round},
          {"seconds", endless(fleet) ? Json(nullptr) : Json(seconds)}};
}

/// What the alpha-beta model says of the time.
void print_prediction(const Assembly& fleet, const RoundPrediction& round) {
  fmt::print(
      "time   about {:.4g} ms per round: {:.4g} ms of compute at simulate.flops, {:.4g} ms "
      "of waiting for the network\n",
      1e3 * round.seconds_per_round,
      1e3 * round.compute_seconds,
      1e3 * round.network_seconds);
  if (endless(fleet)) return;
  fmt::print("       about {} in all, as `simulate` counts it; `run` with network.emulate\n",
             seconds_text(round.seconds_per_round * static_cast<double>(fleet.rounds)));
}

void print_json(const Assembly& fleet, const Spectrum& s) {
  const RoundPrediction round = predict_round(fleet);
  const Sizes share = shares(fleet);
  Json samples = Json::array();
  for (const auto& rows : fleet.partition) samples.push_back(rows.size());
  const Json plan{{"schema", "grapevine.plan/1"},
                  {"name", fleet.fleet.name},
                  {"digest", fleet.fleet.digest},
                  {"peers", fleet.fleet.size()},
                  {"algorithm", fleet.algorithm->kind},
                  {"order", fleet.algorithm->order},
                  {"model", fleet.fleet.model.kind},
                  {"parameters", fleet.dimension},
                  {"samples", samples},
                  {"samples_min", share.least},
                  {"samples_max", share.most},
                  {"topology", fleet.topology.name},
                  {"weights", fleet.fleet.weights},
                  {"slem", s.slem},
                  {"gap", s.gap},
                  {"rounds", endless(fleet) ? Json(nullptr) : Json(fleet.rounds)},
                  {"bytes_per_round", round.bytes_per_round},
                  {"predicted", predicted_json(fleet, round)}};
  fmt::print("{}\n", plan.dump());
}

void print_text(const Assembly& fleet, const Spectrum& s, const std::string& path) {
  const Sizes share = shares(fleet);
  fmt::print("plan   {}: ok\n", path);
  fmt::print("peers  {}, algorithm {} {}\n",
             fleet.fleet.size(),
             fleet.algorithm->kind,
             fleet.algorithm->order);
  if (fleet.data.train) {
    fmt::print("data   {}: {} train in {} parts ({} .. {} samples, {}), {} test\n",
               fleet.fleet.data.kind,
               fleet.data.train->rows,
               fleet.fleet.size(),
               share.least,
               share.most,
               fleet.fleet.data.partition.kind,
               fleet.data.test->rows);
  }
  fmt::print("model  {}: {} parameters, {}\n",
             fleet.fleet.model.kind,
             fleet.dimension,
             bytes_text(4.0 * static_cast<double>(fleet.dimension)));
  fmt::print("graph  {}, {} weights: spectral gap {:.6g}, slem {:.6f}\n",
             fleet.topology.name,
             fleet.fleet.weights,
             s.gap,
             s.slem);
  const RoundPrediction prediction = predict_round(fleet);
  const double bytes = prediction.bytes_per_round;
  fmt::print("round  {} local step{}, then {} out by the busiest peer\n",
             fleet.fleet.local_steps,
             fleet.fleet.local_steps == 1 ? "" : "s",
             bytes_text(bytes));
  if (endless(fleet)) {
    fmt::print("total  until the time or the target of `stop` is reached\n");
  } else {
    fmt::print("total  {} rounds, {} by the busiest peer\n",
               fleet.rounds,
               bytes_text(bytes * static_cast<double>(fleet.rounds)));
  }
  print_prediction(fleet, prediction);
  fmt::print("nothing was started: grapevine run {}\n", path);
}

}  // namespace

void add_plan(CLI::App& app, Outcome&) {
  CLI::App* command =
      app.add_subcommand("plan", "Check a fleet file and show what it means; starts nothing");
  auto options = std::make_shared<FleetOptions>();
  add_fleet_options(*command, *options);
  add_examples(
      *command,
      "  grapevine plan configs/fashion-ring8.yaml\n"
      "  grapevine plan configs/fashion-ring8.yaml --set peers=16 --set topology=hypercube --json");
  command->callback([options] {
    const Assembly fleet = assemble(*options);
    const Spectrum s = spectrum(*fleet.w, &fleet.fleet.topology, fleet.fleet.weights);
    options->json ? print_json(fleet, s) : print_text(fleet, s, options->file);
  });
}

}  // namespace gv::cli

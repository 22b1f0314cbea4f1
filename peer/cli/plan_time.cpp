#include "peer/cli/plan_time.h"

#include <limits>
#include <string>

#include <fmt/format.h>

#include "peer/cli/asked_fleet.h"
#include "peer/record/report/console.h"
#include "peer/record/report/screen.h"

namespace gv::cli {
namespace {

/// The scout took its steps alone.
std::string sharing_text(const Fleet& fleet) {
  const double times = crowding(fleet);
  if (times == 1) return "one peer alone";
  return fmt::format("one alone, times {:.3g} for the cores that they share", times);
}

}  // namespace

bool endless(const Assembly& fleet) {
  return fleet.rounds == std::numeric_limits<Round>::max();
}

Json predicted_json(const Assembly& fleet, const RoundPrediction& round) {
  const double seconds = round.seconds_per_round * static_cast<double>(fleet.rounds);
  return {{"seconds_per_round", round.seconds_per_round},
          {"compute_seconds", round.compute_seconds},
          {"network_seconds", round.network_seconds},
          {"network_shape", name_of(fleet.fleet.network.shape)},
          {"seconds", endless(fleet) ? Json(nullptr) : Json(seconds)}};
}

void print_prediction(const Assembly& fleet, const RoundPrediction& round) {
  const std::string measured =
      fleet.fleet.program
          ? "as the program's steps took, " + sharing_text(fleet.fleet)
          : fmt::format("at {:.3g} GFLOP/s\n       (simulate.flops)", fleet.fleet.flops / 1e9);
  const std::string text =
      fmt::format("time   about {} a round: {} of compute {}, {} of waiting for the network ({})",
                  seconds_text(round.seconds_per_round),
                  seconds_text(round.compute_seconds),
                  measured,
                  seconds_text(round.network_seconds),
                  name_of(fleet.fleet.network.shape));
  fmt::print("{}\n", fleet.fleet.program ? wrapped(text, 7) : text);
  if (endless(fleet)) return;
  fmt::print(
      "       about {} in all ({}), as `simulate` counts it, and `run` with\n"
      "       network.emulate\n",
      seconds_text(round.seconds_per_round * static_cast<double>(fleet.rounds)),
      name_of(fleet.fleet.network.shape));
}

}  // namespace gv::cli

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peer/cli/fleet_options.h"
#include "peer/fleet/json/json.h"
#include "peer/runtime/assembly.h"
#include "peer/study/predict/calibrate/fleet_calibration.h"
#include "peer/study/predict/forecast/round_prediction.h"

namespace gv::cli {

// What `plan` says of the minibatches of a fleet.

std::vector<std::uint32_t> batches_of(const Fleet& fleet);
/// A rate is tuned on one machine as a rule, and the fleet's batch is another one.
void print_batch(const Assembly& fleet);
/// Beyond the noise scale a larger batch saves few steps.
void print_noise_scale(const Assembly& fleet, const FleetCalibration& calibration);
Json scaling_json(const Assembly& fleet, const std::optional<FleetCalibration>& calibration);

/// The worth of a fleet beside its fastest peer alone, by the seconds of `plan`: samples a second,
/// which says nothing of how many samples a target needs.
struct Gain {
  enum class Limit {
    network,     ///< peers wait for messages for most of a round
    slowest,     ///< the others wait for the slowest one's arithmetic
    arithmetic,  ///< all compute
  };
  /// One key set otherwise, and how many times the fastest peer the fleet is then.
  struct Change {
    std::string set;
    double times = 0;
  };
  PeerId fastest = 0;
  double times = 0;         ///< the samples a second of the fastest peer alone
  double network_part = 0;  ///< of a round, in which messages are waited for
  Limit limit = Limit::arithmetic;
  std::vector<Change> changes{};  ///< those that bring a tenth more at least, the best one first
};

/// Finds none for a fleet with less than two models, or with models that are divided, which `plan
/// --parallel` compares. `options`: where the fleet came from; changes are tried there. Fleets with
/// programs are told no changes: each would ask the program once more.
std::optional<Gain> gain_of(const Assembly& fleet,
                            const RoundPrediction& round,
                            const FleetOptions& options);
/// A sentence under `gain`, or nothing.
std::string gain_text(const std::optional<Gain>& gain);
/// `times`, `fastest`, `network_part`, `limit`, `changes` (`set`, `times`); null for none.
Json gain_json(const std::optional<Gain>& gain);

// What is odd about a fleet without being wrong: a line or two of `plan`, or nothing.

/// A minibatch that is larger than its part repeats samples.
std::string crowded_note(const Assembly& fleet);
/// A torus or a grid whose shape is left open is a line where the number of peers is prime.
std::string thin_note(const Assembly& fleet);
/// Says what unequal batches would bring where the others wait for the slowest machine.
std::string unequal_note(const Assembly& fleet);
/// Says that it matters who stands where, if links differ.
std::string placement_note(const Assembly& fleet);
/// A network without latency and bandwidth takes no time, which no real one does.
std::string network_note(const Assembly& fleet);
/// Each peer holds x and its gradient at least; `free`: bytes on this machine, where it is known.
std::string memory_note(const Assembly& fleet, std::optional<std::uint64_t> free);

}  // namespace gv::cli

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/runtime/assembly.h"
#include "peer/study/predict/calibrate/fleet_calibration.h"

namespace gv::cli {

// What `plan` says of the minibatches of a fleet.

std::vector<std::uint32_t> batches_of(const Fleet& fleet);
/// A rate is tuned on one machine as a rule, and the fleet's batch is another one.
void print_batch(const Assembly& fleet);
/// Beyond the noise scale a larger batch saves few steps.
void print_noise_scale(const Assembly& fleet, const FleetCalibration& calibration);
Json scaling_json(const Assembly& fleet, const std::optional<FleetCalibration>& calibration);

}  // namespace gv::cli

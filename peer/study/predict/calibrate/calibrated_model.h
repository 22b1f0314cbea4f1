#pragma once

#include <cstddef>
#include <string>

#include "graph/predict/local.h"
#include "peer/fleet/json/json.h"
#include "peer/study/predict/calibrate/fleet_calibration.h"
#include "peer/study/predict/calibrate/local_calibration.h"

namespace gv {

// Conversion of measurements for the predictor.

/// Returns the model of a fleet of `peers`, of which `looked` were measured.
LocalModel local_model(const Calibration& c, PeerId peers, std::size_t looked);

/// Extends some peers' deviations to all peers by expectation: their mean energy in each place.
void spread_over(LocalModel& m, std::size_t looked, PeerId peers);

Json calibration_json(const FleetCalibration& calibration);
std::string calibration_text(const FleetCalibration& calibration);

}  // namespace gv

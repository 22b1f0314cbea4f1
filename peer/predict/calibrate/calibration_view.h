#pragma once

#include <string>

#include "peer/json/json.h"
#include "peer/predict/calibrate/fleet_calibration.h"

namespace gv {

Json calibration_json(const FleetCalibration& calibration);
std::string calibration_text(const FleetCalibration& calibration);

}  // namespace gv

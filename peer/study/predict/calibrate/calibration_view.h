#pragma once

#include <string>

#include "peer/fleet/json/json.h"
#include "peer/study/predict/calibrate/fleet_calibration.h"

namespace gv {

Json calibration_json(const FleetCalibration& calibration);
std::string calibration_text(const FleetCalibration& calibration);

}  // namespace gv

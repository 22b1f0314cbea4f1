#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "peer/predict/calibrate/fleet_calibration.h"

namespace gv {

nlohmann::ordered_json calibration_json(const FleetCalibration& calibration);
std::string calibration_text(const FleetCalibration& calibration);

}  // namespace gv

#pragma once

#include <string>

#include "peer/study/predict/forecast/forecast.h"

namespace gv {

/// One line: the graph to take, and why. Empty without alternatives.
std::string advice_of(const FleetForecast& f);
/// Warns of a rate that makes the fleet diverge; empty where it does not.
std::string warning_of(const QuadraticProblem& problem, const Forecast& own);
/// Does the same for a fleet that is about to start; empty too where nothing is known of it.
std::string rate_warning(const Assembly& fleet);

}  // namespace gv

#pragma once

#include <string>

#include "peer/report/forecast.h"

namespace gv {

/// One line: the graph to take, and why. Empty without alternatives.
std::string advice_of(const FleetForecast& f);
/// Of a rate that makes the fleet diverge; empty where it does not.
std::string warning_of(const QuadraticProblem& problem, const Forecast& own);

}  // namespace gv

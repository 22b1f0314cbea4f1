#pragma once

#include <string>

#include "peer/fleet/json/json.h"
#include "peer/runtime/assembly.h"

namespace gv::cli {

/// The figures of a fleet's W, or of its schedule, that are known before anything runs.
struct MixingFigures {
  std::string text;  ///< one line for people
  std::string name;  ///< of the graph or the schedule
  double slem = 0;   ///< the factor of a disagreement per round
  double gap = 0;
  Json schedule;  ///< null when there is one W
};
MixingFigures mixing_figures(const Assembly& fleet);

/// Counts the neighbours to which peer i sends in a round: the mean over a period, or over many
/// rounds of a random schedule.
double mean_receivers(const Assembly& fleet, PeerId i);

}  // namespace gv::cli

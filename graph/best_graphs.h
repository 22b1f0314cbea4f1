#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/schedule/schedule.h"
#include "graph/schedule/schedule_rate.h"

namespace gv {

/// A graph or a schedule that the search examined.
struct GraphCandidate {
  ScheduleSpec spec;
  std::string name;
  PeerId most_neighbors = 0;  ///< maximum number that one peer receives from in one round
  double mean_neighbors = 0;  ///< models that a peer receives in a round
  ScheduleRate rate;
  double score = 0;  ///< smaller is better
};

/// Replaceable score of a candidate. Not called for graphs that do not average at all.
using GraphScore = std::function<double(const GraphCandidate&)>;
/// Rounds of pure averaging until a disagreement is a thousandth: the order of the spectral gap.
double rounds_to_thousandth(const GraphCandidate& c);

struct GraphSearch {
  PeerId peers = 0;
  PeerId max_degree = 0;   ///< maximum number of peers that one receives from in a round
  int seeds = 10;          ///< seeds tried for each random family; the best one stays
  bool schedules = false;  ///< also search time-varying sequences
  std::string weights = "metropolis";
  GraphScore score = rounds_to_thousandth;
};

/// Returns the candidates, best first; equal scores: fewer neighbours first. Families that are
/// impossible for this number of peers, disconnected, or of too high a degree are left out.
std::vector<GraphCandidate> best_graphs(const GraphSearch& search);

}  // namespace gv

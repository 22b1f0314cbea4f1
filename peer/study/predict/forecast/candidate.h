#pragma once

#include <memory>
#include <string>
#include <vector>

#include "peer/runtime/assembly.h"
#include "peer/study/predict/forecast/mixing_law.h"

namespace gv {

/// A graph or a schedule that a fleet averages over, or could.
struct Candidate {
  std::string name;
  std::shared_ptr<const MixingSchedule> rounds;  ///< period 1: one W for all rounds
  MixingLaw law;
  std::size_t degree = 0;    ///< most neighbours that a peer hears in a round
  double slem = 0, gap = 1;  ///< of a schedule: the factor of a disagreement per round, 1 - it
  double rounds_to_thousandth = 1;  ///< of pure averaging; infinite when never
};

/// The fleet's weights where any undirected graph can have them, else metropolis: those of the
/// other candidates.
std::string weights_for_all(const std::string& weights);

Candidate own_candidate(const Assembly& fleet);
/// Graphs of at most `max_degree` on the same peers, the ten that average fastest, then the
/// schedules of graph/schedules.h that need no parameters. The fleet's own is left out.
std::vector<Candidate> other_candidates(const Assembly& fleet, std::size_t max_degree);

}  // namespace gv

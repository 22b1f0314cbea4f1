#pragma once

#include <set>
#include <string>
#include <vector>

#include "peer/fleet/fleet.h"
#include "peer/study/sweep/axes.h"
#include "peer/study/sweep/points.h"
#include "peer/study/sweep/sweep_file.h"

namespace gv {

/// Reads the fleets of a sweep's cells, and says what is wrong with them where the sweep file
/// brought it about. What several cells have in common is said once.
class CellCheck {
 public:
  CellCheck(Source& source, const SweepFile& file) : source_(source), file_(file) {}

  /// The fleet of a cell; an empty one after a problem.
  Fleet read(const SweepCell& cell, const TuningPoint& point = {});
  /// Does the same at both ends of what is tuned.
  void check_ends(const SweepCell& cell, const std::vector<TuningKnob>& knobs);

 private:
  void say(const Diagnostic& problem, const SweepCell& cell, const std::vector<SweepSet>& sets);
  Place place_of(const SweepCell& cell) const;

  Source& source_;
  const SweepFile& file_;
  std::set<std::string> said_;
};

/// Arguments for read_fleet.
std::vector<std::string> arguments_of(const std::vector<SweepSet>& sets);

}  // namespace gv

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/show/page/states.h"

namespace gv {

struct TimelineMoment {
  std::size_t state = 0;
  double begin = 0, end = 0;  ///< seconds, on one clock for all lanes
};

/// The moments of one peer, in ascending order of time and without overlaps.
struct TimelineLane {
  std::string name;
  std::vector<TimelineMoment> moments;
};

/// The place where a round of a lane begins.
struct TimelineRound {
  std::size_t lane = 0;
  std::uint64_t round = 0;
  double begin = 0;
};

/// A point of the critical path: at this time the lane had to go on.
struct CriticalPoint {
  std::size_t lane = 0;
  double seconds = 0;
};

struct Timeline {
  std::vector<TimelineLane> lanes;
  std::vector<TimelineRound> rounds = {};
  std::vector<CriticalPoint> critical = {};  ///< in ascending order of time; may be empty
};

/// One lane per peer, one path per state. What lies closer together than a quarter pixel is drawn
/// as one; where more than most_strokes would be left, closer than a half, and so on. The first
/// most_lanes lanes. Empty when nothing has a length.
std::string timeline_figure(const Timeline& timeline);

constexpr std::size_t most_lanes = 64, most_strokes = 8000;

}  // namespace gv

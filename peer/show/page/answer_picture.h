#pragma once

#include <optional>
#include <string>

#include "peer/study/compare/comparison.h"
#include "peer/study/compare/target.h"

namespace gv {

/// A picture of costs against an axis of a sweep.
struct AnswerAxes {
  std::string x;       ///< an axis whose values are numbers, or names with one: "easgd-16"
  std::string name;    ///< title of the numbers; if empty, that of the axis
  std::string y;       ///< a measure, or `speed-up`: the time at the least x over the time
  bool model = false;  ///< adds the closed forms of the wall clock, dotted
};

/// The race of each section, as a file (see picture_file): against time, and for a single section
/// against epochs as well.
std::string race_picture(const Comparison& comparison, const std::string& title);

/// One line for each value of the first axis other than x (or each name of x), one panel for each
/// combination of the remaining axes. Means over the seeds, without bands: differences between
/// seeds are common to all lines and would hide how the lines differ. `whole` has one section. A
/// seed that misses the target leaves a gap. Empty if no run has such a value.
std::string axis_picture(const Comparison& whole, const AnswerAxes& axes, const std::string& title);

/// Seconds of a round of this contender by WallClock
/// (peer/study/predict/forecast/round_prediction.h), from its runs' network, peers and parameters,
/// and the measured seconds of their gradients. None if there is no form: for methods
/// other than D-PSGD on a graph of known degree, ring all-reduce and the synchronous parameter
/// server; for unequal links; for local steps.
std::optional<double> modelled_round_seconds(const Contender& contender);

}  // namespace gv

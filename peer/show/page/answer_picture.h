#pragma once

#include <string>

#include "peer/study/compare/comparison.h"

namespace gv {

/// A picture of costs against an axis of a sweep.
struct AnswerAxes {
  std::string x;       ///< an axis whose values are numbers, or names with one: "easgd-16"
  std::string name;    ///< what the numbers are; "": the axis
  std::string y;       ///< a measure, or `speed-up`: the time at the least x over the time
  bool model = false;  ///< the closed forms of the wall clock stand beside, dotted
};

/// The race of each section, as a file (see picture_file): against time, and where there is one
/// section alone against epochs as well.
std::string race_picture(const Comparison& comparison, const std::string& title);

/// A panel for each combination of the axes but x and the first other one, of which every value is
/// a line, or each name of x: means over the seeds. No bands: what makes a seed hard or easy is
/// common to all lines, and would hide how they differ. `whole` has one section. A seed that misses
/// the target leaves a gap. Empty where nobody has such a value.
std::string axis_picture(const Comparison& whole, const AnswerAxes& axes, const std::string& title);

}  // namespace gv

#pragma once

#include <optional>
#include <string>

#include "peer/study/compare/comparison.h"
#include "peer/study/compare/target.h"

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

/// Seconds of a round of this contender by the closed forms of
/// peer/study/predict/forecast/wall_clock.h, from the network, the peers and the parameters of its
/// runs, and the seconds that their gradients took. Nothing where there is no form: another method
/// than D-PSGD on a graph of known degree, ring all-reduce and the synchronous parameter server;
/// links that differ; local steps.
std::optional<double> modelled_round_seconds(const Contender& contender);

}  // namespace gv

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/study/compare/comparison.h"
#include "peer/study/compare/target.h"

namespace gv {

/// A figure of a picture, with its title.
struct PicturePanel {
  std::string title;
  std::string figure;  ///< an image of svg::image, such as a lines_figure; all of one size
};

/// Lines by their series and name.
using PictureLegend = std::vector<std::pair<std::size_t, std::string>>;

/// An SVG file with the panels in two columns, with the colours and the marks of a report, light or
/// dark by the reader's settings. Below the panels is the legend, which pictures need if there are
/// too many lines to name at their ends. Empty if no panel has a figure.
std::string picture_file(const std::string& title,
                         const std::vector<PicturePanel>& panels,
                         const PictureLegend& legend = {});

/// A figure of a page as an SVG file of its own, with the page's colours on white: for paper.
std::string figure_file(const std::string& figure);

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

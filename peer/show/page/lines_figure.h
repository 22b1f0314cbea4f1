#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gv {

/// One line of a plot. x never falls; where a value is not finite the line has a gap.
struct PlotLine {
  std::string name;        ///< at the line's end
  std::size_t series = 0;  ///< its colour and dashes
  std::vector<double> x = {}, y = {};
  std::vector<double> low = {}, high = {};  ///< a band around it, at the same x; or empty
  std::optional<double> reached = {};       ///< the x at which the line meets the plot's target
  bool predicted = false;                   ///< dashed and thin: nobody measured it
};

enum class Quantity { number, seconds, bytes };

struct LinePlot {
  std::string x_title, y_title;
  Quantity x_is = Quantity::number;
  bool log_y = false;
  bool log_x = false;   ///< whatever the lines' lengths; every x is above 0 then
  bool points = false;  ///< a dot at each value that was measured: between few the line is a guess
  std::optional<double> target = {};  ///< a height, drawn across the plot
  std::vector<PlotLine> lines = {};
};

/// Lines over a common axis, each with its name at its end, a band where there is one and a dot
/// where it meets the target. The x axis is logarithmic where the shortest line would be drawn in
/// less than an eighth of it. Points are joined straight and never smoothed. Empty when no line has
/// a value.
std::string lines_figure(const LinePlot& plot);

/// Styles repeat after these many lines; more than this many names are not written.
constexpr std::size_t most_named_lines = 12;

}  // namespace gv

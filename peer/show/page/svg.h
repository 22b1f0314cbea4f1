#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv::svg {

struct Point {
  double x = 0, y = 0;
};

/// Text as it may stand between tags and inside quotes; what is not printable becomes `?`.
std::string escape(std::string_view text);
/// A length with at most two decimals: "12", "0.5".
std::string length(double value);

/// `anchor`: start | middle | end. The text is escaped.
std::string text(Point at, std::string_view anchor, std::string_view css, std::string_view text);
std::string line(Point a, Point b, std::string_view css);
/// Strokes in the letters of SVG's own path language.
std::string path(std::string_view d, std::string_view css);
/// Groups what belongs together; `tooltip` shows while the pointer rests on it, unless it is empty.
std::string group(std::string_view css, std::string_view tooltip, std::string_view content);
/// A path through the points, without filling.
std::string polyline(const std::vector<Point>& points, std::string_view css);
std::string rect(Point corner, double width, double height, std::string_view css);
std::string circle(Point center, double radius, std::string_view css);

/// Returns `most` characters at the most, the last of them … where something is left out.
std::string shortened(const std::string& text, std::size_t most);

/// Does the same with … in the middle: names that differ in their last words stay apart.
std::string squeezed(const std::string& text, std::size_t most);

/// An image that scales with the page; `label` is what a screen reader says.
std::string image(double width, double height, std::string_view label, std::string_view content);

/// "s3": the style of the k-th of several things that are told apart by colour, and by dashes once
/// the colours are used up.
std::string series(std::size_t k);
constexpr std::size_t n_series = 24;  ///< then they begin again

struct Tick {
  double value;
  std::string label;
};

/// Values low .. high (0 < low < high when logarithmic) on the pixels from .. to.
class Axis {
 public:
  enum class Scale { linear, logarithmic };
  Axis(Scale scale, double low, double high, double from, double to);

  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  double from() const { return from_; }
  double to() const { return to_; }
  /// Round values inside the range: 1, 2 or 5 times a power of ten; about `wanted`.
  std::vector<Tick> ticks(int wanted) const;

 private:
  Scale scale_;
  double low_, high_, from_, to_;
};

constexpr int usual_ticks = 8;  ///< of an axis of 800 pixels

/// Ticks, grid lines and titles of a plot; the marks are drawn over it.
std::string axes(const Axis& x,
                 const Axis& y,
                 std::string_view x_title,
                 std::string_view y_title,
                 int x_ticks = usual_ticks,
                 int y_ticks = 6);
/// Ticks, vertical grid lines from `top` and a title below a figure whose rows are named otherwise.
std::string bottom_axis(
    const Axis& x, double top, double bottom, std::string_view title, int wanted = usual_ticks);

}  // namespace gv::svg

#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace gv::svg {

struct Point {
  double x = 0, y = 0;
};

/// The least and the largest value of some; values that are not finite do not count.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void take(double value);
  bool empty() const { return low > high; }
  /// Returns whether all values are positive and far from each other, as a logarithmic axis shows.
  bool spans(double factor) const { return low > 0 && high > factor * low; }
};

/// Escapes a text for use between tags and inside quotes; replaces unprintable characters by `?`.
std::string escape(std::string_view text);
/// A length with at most two decimals: "12", "0.5".
std::string length(double value);

/// A place in SVG's path language: "12 3.5".
std::string place(Point p);
/// A straight line in SVG's path language.
std::string stroke(Point a, Point b);
/// A straight line; two half lines if `step`, the way from a, ends elsewhere than at b: the line
/// then crosses the border of a torus.
std::string stroke(Point a, Point b, Point step);

/// `anchor`: start | middle | end. The text is escaped.
std::string text(Point at, std::string_view anchor, std::string_view css, std::string_view text);
std::string line(Point a, Point b, std::string_view css);
/// Strokes in SVG's path language.
std::string path(std::string_view d, std::string_view css);
/// Groups elements. A non-empty `tooltip` shows while the pointer rests on the group.
std::string group(std::string_view css, std::string_view tooltip, std::string_view content);
/// A path through the points, without filling.
std::string polyline(const std::vector<Point>& points, std::string_view css);
std::string rect(Point corner, double width, double height, std::string_view css);
std::string circle(Point center, double radius, std::string_view css);

/// Returns at most `most` characters; the last is … if the text was cut.
std::string shortened(const std::string& text, std::size_t most);

/// Shortens with … in the middle, so that names with different last words stay distinct.
std::string squeezed(const std::string& text, std::size_t most);

/// An image that scales with the page; `label` is the text for screen readers.
std::string image(double width, double height, std::string_view label, std::string_view content);

/// Returns the style class of the k-th of several things: "s3". Styles differ by colour, then by
/// dashes.
std::string series(std::size_t k);
constexpr std::size_t n_series = 24;  ///< then they repeat

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

constexpr int usual_ticks = 8;  ///< for an axis of 800 pixels

/// Ticks and horizontal grid lines between these pixels.
std::string left_ticks(const Axis& y, double from, double to, int wanted);
/// Ticks, grid lines and titles of a plot; the marks are drawn over it.
std::string axes(const Axis& x,
                 const Axis& y,
                 std::string_view x_title,
                 std::string_view y_title,
                 int x_ticks = usual_ticks,
                 int y_ticks = 6);
/// Ticks, vertical grid lines from `top` and a title below a figure whose rows have names.
std::string bottom_axis(
    const Axis& x, double top, double bottom, std::string_view title, int wanted = usual_ticks);

/// Removes points from a curve whose x never decreases, so that each removed point is within
/// `tolerance` pixels of the line through the remaining ones; the ends remain. Nothing is smoothed:
/// every remaining point is one of the curve's. Ramer 1972, Douglas & Peucker 1973.
std::vector<Point> simplify(const std::vector<Point>& points, double tolerance = 0.25);

}  // namespace gv::svg

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv::svg {

struct Point {
  double x = 0, y = 0;
};

/// Text as it may stand between tags and inside quotes.
std::string escape(std::string_view text);
/// A length with at most two decimals: "12", "0.5".
std::string length(double value);

/// `anchor`: start | middle | end. The text is escaped.
std::string text(Point at, std::string_view anchor, std::string_view css, std::string_view text);
std::string line(Point a, Point b, std::string_view css);
/// A path through the points, without filling.
std::string polyline(const std::vector<Point>& points, std::string_view css);
std::string rect(Point corner, double width, double height, std::string_view css);
std::string circle(Point center, double radius, std::string_view css);

/// An image that scales with the page; `label` is what a screen reader says.
std::string image(double width, double height, std::string_view label, std::string_view content);

/// "s3": the style of the k-th of several things that are told apart by colour, and by dashes once
/// the colours are used up.
std::string series(std::size_t k);
constexpr std::size_t n_series = 24;  ///< then they begin again

}  // namespace gv::svg

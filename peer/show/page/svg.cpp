#include "peer/show/page/svg.h"

#include <fmt/format.h>

#include "optim/printable.h"

namespace gv::svg {
namespace {

/// Returns where each character of a text in UTF-8 begins.
std::vector<std::size_t> characters_of(const std::string& text) {
  std::vector<std::size_t> begins;
  for (std::size_t k = 0; k < text.size(); ++k)
    if ((text[k] & 0xC0) != 0x80) begins.push_back(k);
  return begins;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : printable(text, text.size())) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string length(double value) {
  std::string digits = fmt::format("{:.2f}", value);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  if (digits == "-0") digits.erase(0, 1);
  return digits;
}

std::string text(Point at, std::string_view anchor, std::string_view css, std::string_view text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     length(at.x),
                     length(at.y),
                     anchor,
                     css,
                     escape(text));
}

std::string line(Point a, Point b, std::string_view css) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n",
                     length(a.x),
                     length(a.y),
                     length(b.x),
                     length(b.y),
                     css);
}

std::string path(std::string_view d, std::string_view css) {
  return fmt::format("<path d=\"{}\" class=\"{}\"/>\n", d, css);
}

std::string group(std::string_view css, std::string_view tooltip, std::string_view content) {
  return fmt::format("<g class=\"{}\">{}{}</g>\n",
                     css,
                     tooltip.empty() ? "" : "<title>" + escape(tooltip) + "</title>",
                     content);
}

std::string polyline(const std::vector<Point>& points, std::string_view css) {
  std::string list;
  for (const Point& p : points) list += length(p.x) + "," + length(p.y) + " ";
  if (!list.empty()) list.pop_back();
  return fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", list, css);
}

std::string rect(Point corner, double width, double height, std::string_view css) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n",
                     length(corner.x),
                     length(corner.y),
                     length(width),
                     length(height),
                     css);
}

std::string circle(Point center, double radius, std::string_view css) {
  return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n",
                     length(center.x),
                     length(center.y),
                     length(radius),
                     css);
}

std::string shortened(const std::string& text, std::size_t most) {
  const std::vector<std::size_t> begins = characters_of(text);
  return begins.size() <= most ? text : text.substr(0, begins[most - 1]) + "…";
}

std::string squeezed(const std::string& text, std::size_t most) {
  const std::vector<std::size_t> begins = characters_of(text);
  if (begins.size() <= most) return text;
  const std::size_t tail = (most - 1) / 2;
  const std::size_t head = most - 1 - tail;
  return text.substr(0, begins[head]) + "…" + text.substr(begins[begins.size() - tail]);
}

std::string image(double width, double height, std::string_view label, std::string_view content) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     length(width),
                     length(height),
                     escape(label),
                     content);
}

std::string series(std::size_t k) {
  return fmt::format("s{}", k % n_series);
}

}  // namespace gv::svg

#include "peer/show/page/svg.h"

#include <algorithm>
#include <cmath>

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

std::string label_of(double value) {
  const double magnitude = std::abs(value);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e6)) return fmt::format("{:g}", value);
  return length(value) == "0" && value != 0 ? fmt::format("{:g}", value)
                                            : fmt::format("{:.6g}", value);
}

std::vector<Tick> linear_ticks(double low, double high, int wanted) {
  const double raw = (high - low) / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double digit : {5.0, 2.0, 1.0}) {
    if (digit * power >= raw * 0.999) step = digit * power;
  }
  std::vector<Tick> ticks;
  const auto first = static_cast<std::int64_t>(std::ceil(low / step - 1e-9));
  const auto last = static_cast<std::int64_t>(std::floor(high / step + 1e-9));
  for (std::int64_t k = first; k <= last; ++k) {
    const double value = static_cast<double>(k) * step;
    ticks.push_back({value, label_of(value)});
  }
  return ticks;
}

std::vector<Tick> decade_ticks(double low, double high, int wanted) {
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const auto last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  const int every = std::max(1, (last - first) / wanted);
  const bool fine = (last - first) * 3 <= wanted;
  std::vector<Tick> ticks;
  for (int decade = first; decade <= last; decade += every) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10.0, decade);
      const bool inside = value >= low * 0.999 && value <= high * 1.001;
      if (inside && (fine || digit == 1.0)) ticks.push_back({value, label_of(value)});
    }
  }
  return ticks;
}

}  // namespace

void Range::take(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

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

std::string place(Point p) {
  return length(p.x) + " " + length(p.y);
}

std::string stroke(Point a, Point b) {
  return "M" + place(a) + "L" + place(b);
}

std::string stroke(Point a, Point b, Point step) {
  if (std::hypot(a.x + step.x - b.x, a.y + step.y - b.y) < 1e-6) return stroke(a, b);
  return stroke(a, {a.x + 0.5 * step.x, a.y + 0.5 * step.y}) +
         stroke(b, {b.x - 0.5 * step.x, b.y - 0.5 * step.y});
}

std::string text(Point at, std::string_view anchor, std::string_view css, std::string_view text) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     length(at.x), length(at.y), anchor, css, escape(text));
}

std::string line(Point a, Point b, std::string_view css) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", length(a.x),
                     length(a.y), length(b.x), length(b.y), css);
}

std::string path(std::string_view d, std::string_view css) {
  return fmt::format("<path d=\"{}\" class=\"{}\"/>\n", d, css);
}

std::string group(std::string_view css, std::string_view tooltip, std::string_view content) {
  return fmt::format("<g class=\"{}\">{}{}</g>\n", css,
                     tooltip.empty() ? "" : "<title>" + escape(tooltip) + "</title>", content);
}

std::string polyline(const std::vector<Point>& points, std::string_view css) {
  std::string list;
  for (const Point& p : points) list += length(p.x) + "," + length(p.y) + " ";
  if (!list.empty()) list.pop_back();
  return fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", list, css);
}

std::string rect(Point corner, double width, double height, std::string_view css) {
  return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"/>\n",
                     length(corner.x), length(corner.y), length(width), length(height), css);
}

std::string circle(Point center, double radius, std::string_view css) {
  return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n", length(center.x),
                     length(center.y), length(radius), css);
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
                     length(width), length(height), escape(label), content);
}

std::string series(std::size_t k) {
  return fmt::format("s{}", k % n_series);
}

Axis::Axis(Scale scale, double low, double high, double from, double to)
    : scale_(scale), low_(low), high_(high), from_(from), to_(to) {}

double Axis::at(double value) const {
  const double share = scale_ == Scale::linear ? (value - low_) / (high_ - low_)
                                               : std::log(value / low_) / std::log(high_ / low_);
  return from_ + share * (to_ - from_);
}

std::vector<Tick> Axis::ticks(int wanted) const {
  return scale_ == Scale::linear ? linear_ticks(low_, high_, wanted)
                                 : decade_ticks(low_, high_, wanted);
}

std::string bottom_axis(
    const Axis& x, double top, double bottom, std::string_view title, int wanted) {
  std::string out;
  for (const Tick& tick : x.ticks(wanted)) {
    const double at = x.at(tick.value);
    out += line({at, top}, {at, bottom}, "grid");
    out += text({at, bottom + 16}, "middle", "tick", tick.label);
  }
  out += line({x.from(), bottom}, {x.to(), bottom}, "axis");
  return out + text({(x.from() + x.to()) / 2, bottom + 36}, "middle", "title", title);
}

std::string left_ticks(const Axis& y, double from, double to, int wanted) {
  std::string out;
  for (const Tick& tick : y.ticks(wanted)) {
    const double at = y.at(tick.value);
    out += line({from, at}, {to, at}, "grid") + text({from - 8, at + 4}, "end", "tick", tick.label);
  }
  return out;
}

std::string axes(const Axis& x,
                 const Axis& y,
                 std::string_view x_title,
                 std::string_view y_title,
                 int x_ticks,
                 int y_ticks) {
  return bottom_axis(x, y.to(), y.from(), x_title, x_ticks) +
         left_ticks(y, x.from(), x.to(), y_ticks) +
         line({x.from(), y.from()}, {x.from(), y.to()}, "axis") +
         text({x.from() - 52, y.to() - 14}, "start", "title", y_title);
}

}  // namespace gv::svg

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr double width = 520, left = 16, right = 16, top = 8, row_height = 46;
constexpr std::array scale{0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0};

std::string grid(const svg::Axis& x, double bottom) {
  std::string out;
  for (const double value : scale) {
    out += svg::line({x.at(value), top}, {x.at(value), bottom}, value == 1 ? "one-to-one" : "grid");
    out += svg::text({x.at(value), bottom + 16}, "middle", "tick", fmt::format("{:g}", value));
  }
  out += svg::line({x.from(), bottom}, {x.to(), bottom}, "axis");
  return out + svg::text({(x.from() + x.to()) / 2, bottom + 36}, "middle", "title",
                         "measured / predicted (logarithmic)");
}

/// A triangle that points out of the scale.
std::string arrow(svg::Point at, double way) {
  return svg::path("M" + svg::place(at) + "l" + svg::length(-10 * way) + " -6v12z", "fill");
}

std::string value_text(const Ratio& r, double value) {
  return r.unit == Quantity::number ? fmt::format("{:.3g}", value) : quantity_text(r.unit, value);
}

std::string row(const Ratio& r, const svg::Axis& x, double y) {
  const double ratio = r.measured / r.predicted;
  const double clipped = std::clamp(ratio, x.low(), x.high());
  const bool inside = clipped == ratio;
  const std::string words =
      fmt::format("predicted {}, measured {}{}", value_text(r, r.predicted),
                  value_text(r, r.measured), inside ? "" : fmt::format(": {:.3g} times", ratio));
  std::string out = svg::text({left, y + 13}, "start", "name halo", svg::shortened(r.name, 22));
  out += svg::text({width - right, y + 13}, "end", inside ? "tick halo" : "tick warn halo", words);
  const svg::Point at{x.at(clipped), y + 28};
  out += svg::line({x.at(1), at.y}, at, "stem");
  out += inside ? svg::circle(at, 5, "dot") : arrow(at, ratio > 1 ? 1 : -1);
  return svg::group("one s0", fmt::format("{}: {} ({:.3f})", r.name, words, ratio), out);
}

}  // namespace

std::string ratio_figure(const std::vector<Ratio>& ratios) {
  std::vector<Ratio> drawn = ratios;
  std::erase_if(drawn, [](const Ratio& r) {
    return !(r.predicted > 0 && r.measured > 0 && std::isfinite(r.measured / r.predicted));
  });
  if (drawn.empty()) return "";
  const double bottom = top + row_height * static_cast<double>(drawn.size());
  const svg::Axis x(svg::Axis::Scale::logarithmic, scale.front(), scale.back(), left,
                    width - right);
  std::string rows;
  for (std::size_t k = 0; k < drawn.size(); ++k)
    rows += row(drawn[k], x, top + row_height * static_cast<double>(k));
  return svg::image(width, bottom + 44, "what was measured over what was predicted",
                    grid(x, bottom) + svg::group("set", "", rows));
}

}  // namespace gv

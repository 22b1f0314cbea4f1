#include "peer/page/labels.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gv::svg {
namespace {

constexpr double line_height = 15, per_character = 8.2, gap = 7;
constexpr double furthest = 90;      ///< that a name moves from its anchor
constexpr double most_covered = 60;  ///< however much lies below a name

bool overlap(const Label& a, const Label& b) {
  return std::abs(a.at.y - b.at.y) < line_height && a.at.x < b.at.x + text_width(b.text) &&
         b.at.x < a.at.x + text_width(a.text);
}

/// What the obstacles below a name weigh, against pixels that it moves away.
double covered(const Label& label, const std::vector<Point>& obstacles) {
  const double right = label.at.x + text_width(label.text);
  const auto below = std::ranges::count_if(obstacles, [&](Point p) {
    return p.x > label.at.x - 2 && p.x < right && p.y > label.at.y - 13 && p.y < label.at.y + 4;
  });
  return std::min(2.5 * static_cast<double>(below), most_covered);
}

}  // namespace

double text_width(const std::string& text) {
  const auto characters = std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
  return per_character * static_cast<double>(characters);
}

std::vector<Label> place_labels(std::vector<Label> labels,
                                const std::vector<Point>& obstacles,
                                double width,
                                double top,
                                double bottom) {
  std::vector<Label> placed;
  std::ranges::stable_sort(labels, {}, [](const Label& l) { return l.anchor.y; });
  for (Label& label : labels) {
    label.at.x = std::min(label.anchor.x + gap, width - text_width(label.text));
    double least = furthest + most_covered;
    std::optional<double> best;
    for (double away = -furthest; away <= furthest; away += 1) {
      label.at.y = label.anchor.y + 4 + away;
      const bool taken =
          std::ranges::any_of(placed, [&](const Label& l) { return overlap(label, l); });
      if (taken || label.at.y < top || label.at.y > bottom) continue;
      const double cost = std::abs(away) + covered(label, obstacles);
      if (cost >= least) continue;
      least = cost;
      best = label.at.y;
    }
    if (!best) continue;
    label.at.y = *best;
    placed.push_back(label);
  }
  return placed;
}

std::string draw(const Label& label) {
  const double middle = label.at.y - 4;
  std::string out;
  if (std::abs(middle - label.anchor.y) > line_height / 2)
    out += line(label.anchor, {label.at.x - 2, middle}, "leader");
  return out + text(label.at, "start", "name halo", label.text);
}

}  // namespace gv::svg

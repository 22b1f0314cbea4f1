#include "peer/show/page/labels.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "peer/record/report/screen.h"

namespace gv::svg {
namespace {

constexpr double line_height = 15, per_character = 8.2, slack = 4, gap = 7;
constexpr double key_side = 6;       ///< side of the coloured square before a name
constexpr double furthest = 90;      ///< largest distance of a name from its anchor
constexpr double most_covered = 80;  ///< largest weight of the obstacles below a name

double right_of(const Label& label) {
  return label.at.x + label_width(label.text);
}

bool overlap(const Label& a, const Label& b) {
  return std::abs(a.at.y - b.at.y) < line_height && a.at.x < right_of(b) && b.at.x < right_of(a);
}

/// Weighs the obstacles below a name against pixels that it moves away.
double covered(const Label& label, const std::vector<Point>& obstacles) {
  const double right = right_of(label);
  const auto below = std::ranges::count_if(obstacles, [&](Point p) {
    return p.x > label.at.x - 2 && p.x < right && p.y > label.at.y - 13 && p.y < label.at.y + 4;
  });
  return std::min(4.0 * static_cast<double>(below), most_covered);
}

}  // namespace

double text_width(const std::string& text) {
  const auto characters = std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
  return slack + per_character * static_cast<double>(characters);
}

std::string row_name(Point at, const std::string& name) {
  return text({at.x - 8, at.y}, "end", "tick", squeezed(name, longest_row_name));
}

double label_width(const std::string& text) {
  return key_side + 4 + text_width(text);
}

std::vector<Label> place_labels(std::vector<Label> labels,
                                const std::vector<Point>& obstacles,
                                double width,
                                double top,
                                double bottom) {
  std::vector<Label> placed;
  std::ranges::stable_sort(labels, {}, [](const Label& l) { return l.anchor.y; });
  for (Label& label : labels) {
    label.at.x = std::min(label.anchor.x + gap, width - label_width(label.text));
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

std::vector<std::string> telling_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    std::size_t end = name.find(' ');
    // Long enough if no other name begins with these words, ignoring a comma after them.
    const auto begins = [&](const std::string& other) {
      std::string words = name.substr(0, end);
      if (words.ends_with(',')) words.pop_back();
      return other != name && other.starts_with(words) &&
             (other.size() == words.size() || other[words.size()] == ' ' ||
              other[words.size()] == ',');
    };
    while (end != std::string::npos && std::ranges::any_of(names, begins))
      end = name.find(' ', end + 1);
    out.push_back(name.substr(0, end));
    if (out.back().ends_with(',')) out.back().pop_back();
  }
  return out;
}

std::string draw(const Label& label) {
  const double middle = label.at.y - 4;
  std::string out;
  if (std::abs(middle - label.anchor.y) > line_height / 2)
    out += line(label.anchor, {label.at.x - 2, middle}, "leader");
  out += rect({label.at.x, middle - key_side / 2}, key_side, key_side, "fill halo");
  return out + text({label.at.x + key_side + 4, label.at.y}, "start", "name halo", label.text);
}

}  // namespace gv::svg

namespace gv {
namespace {

struct Step {
  double size;
  const char* name;
};
constexpr Step times[] = {{1e-6, "us"}, {1e-3, "ms"}, {1, "s"}, {60, "min"}, {3600, "h"}};
constexpr Step sizes[] = {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}};

/// The largest step that fits at least twice into the value.
Unit among(std::span<const Step> steps, double value) {
  const Step* best = &steps.front();
  for (const Step& step : steps)
    if (value >= 2 * step.size) best = &step;
  return {best->size, best->name};
}

}  // namespace

Unit unit_for(Quantity what, double largest) {
  switch (what) {
    case Quantity::seconds:
      return among(times, largest);
    case Quantity::bytes:
      return among(sizes, largest);
    case Quantity::number:
      break;
  }
  return {};
}

std::string quantity_text(Quantity what, double value) {
  if (!std::isfinite(value)) return "-";
  switch (what) {
    case Quantity::seconds:
      return value == 0 ? "0 s" : seconds_text(value);
    case Quantity::bytes:
      return bytes_text(value);
    case Quantity::number:
      break;
  }
  return fmt::format("{:.5g}", value);
}

std::string duration_text(double seconds) {
  return quantity_text(Quantity::seconds, seconds);
}

}  // namespace gv

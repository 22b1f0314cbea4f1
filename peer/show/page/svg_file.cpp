#include "peer/show/page/svg_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "peer/show/page/page_style.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr double width = 460, tall = 300, heading = 26, gap = 18, border = 14;
constexpr std::size_t columns = 2;
constexpr std::size_t longest_title = 58;
constexpr double entry = 230, entry_height = 20, legend_line = 34;  ///< sizes of a legend
constexpr std::size_t longest_entry = 26;

constexpr std::string_view own_style = R"(
.ground { fill: var(--card); stroke: var(--line); }
svg { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
svg .panel { font-size: 14px; font-weight: 600; }
)";

/// Adds the place and the size that an image inside another image needs.
std::string placed(const std::string& figure, svg::Point at) {
  constexpr std::string_view tag = "<svg ";
  return fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}", svg::length(at.x),
                     svg::length(at.y), width, tall, figure.substr(tag.size()));
}

std::string draw(const PicturePanel& panel, std::size_t place) {
  const svg::Point at{border + static_cast<double>(place % columns) * (width + gap),
                      border + static_cast<double>(place / columns) * (heading + tall + gap)};
  return svg::text({at.x, at.y + 15}, "start", "panel",
                   svg::shortened(panel.title, longest_title)) +
         placed(panel.figure, {at.x, at.y + heading});
}

std::size_t entries_across(double wide) {
  return std::max<std::size_t>(1, static_cast<std::size_t>((wide - 2 * border) / entry));
}

std::string draw(const PictureLegend& legend, double wide, double from) {
  std::string out;
  for (std::size_t k = 0; k < legend.size(); ++k) {
    const auto& [series, name] = legend[k];
    const std::size_t across = entries_across(wide);
    const svg::Point at{border + static_cast<double>(k % across) * entry,
                        from + (static_cast<double>(k / across) + 0.5) * entry_height};
    out += svg::line(at, {at.x + legend_line, at.y}, "curve " + svg::series(series)) +
           svg::text({at.x + legend_line + 8, at.y + 4}, "start", "",
                     svg::shortened(name, longest_entry));
  }
  return out;
}

}  // namespace

std::string picture_file(const std::string& title,
                         const std::vector<PicturePanel>& panels,
                         const PictureLegend& legend) {
  std::string content;
  std::size_t drawn = 0;
  for (const PicturePanel& panel : panels)
    if (!panel.figure.empty()) content += draw(panel, drawn++);
  if (drawn == 0) return "";
  const std::size_t across = std::min(drawn, columns);
  const std::size_t down = (drawn + columns - 1) / columns;
  const double wide = 2 * border + static_cast<double>(across) * (width + gap) - gap;
  const std::size_t lines = (legend.size() + entries_across(wide) - 1) / entries_across(wide);
  const double below = border + static_cast<double>(down) * (heading + tall + gap) - gap;
  const double high = below + border + entry_height * static_cast<double>(lines);
  content += draw(legend, wide, below);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n<style>{3}{4}{5}</style>\n{6}{7}</svg>\n",
      wide, high, svg::escape(title), page_palette, figure_style, own_style,
      svg::rect({0.5, 0.5}, wide - 1, high - 1, "ground"), content);
}

std::string figure_file(const std::string& figure) {
  constexpr std::string_view tag = "<svg ";
  const std::size_t head = figure.find('>');
  if (!figure.starts_with(tag) || head == std::string::npos) return "";
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" {}>\n<style>{}{}{}</style>\n{}\n",
                     figure.substr(tag.size(), head - tag.size()), page_palette, figure_style,
                     own_style, figure.substr(head + 1));
}

}  // namespace gv

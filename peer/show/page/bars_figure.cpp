#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr double width = 460, tall = 240, left = 64, right = 12, top = 32, bottom = 48;

}  // namespace

std::string bars_figure(const std::vector<Bar>& bars,
                        const std::string& x_title,
                        const std::string& y_title,
                        std::size_t series) {
  double most = 0;
  for (const Bar& bar : bars)
    if (std::isfinite(bar.height)) most = std::max(most, bar.height);
  if (most <= 0) return "";
  const svg::Axis y(svg::Axis::Scale::linear, 0, most, tall - bottom, top);
  std::string content = svg::left_ticks(y, left, width - right, 5);
  const double step = (width - right - left) / static_cast<double>(bars.size());
  const std::size_t every = (bars.size() + 7) / 8;
  for (std::size_t k = 0; k < bars.size(); ++k) {
    const double from = left + step * static_cast<double>(k);
    if (bars[k].height > 0)
      content += svg::group(
          svg::series(series),
          fmt::format("{} {}: {:.6g} {}", bars[k].name, x_title, bars[k].height, y_title),
          svg::rect({from + 0.12 * step, y.at(bars[k].height)}, 0.76 * step,
                    y.from() - y.at(bars[k].height), "fill"));
    if (k % every == 0)
      content += svg::text({from + step / 2, y.from() + 16}, "middle", "tick", bars[k].name);
  }
  content += svg::line({left, y.from()}, {width - right, y.from()}, "axis");
  content += svg::text({(left + width - right) / 2, y.from() + 36}, "middle", "title", x_title);
  content += svg::text({left - 52, y.to() - 14}, "start", "title", y_title);
  return svg::image(width, tall, y_title + " over " + x_title, content);
}

}  // namespace gv

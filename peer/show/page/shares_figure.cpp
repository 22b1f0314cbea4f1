#include <algorithm>

#include <fmt/format.h>

#include "peer/show/page/labels.h"
#include "peer/show/page/page_figures.h"
#include "peer/show/page/svg.h"

namespace gv {
namespace {

constexpr double width = 520, right = 14;

/// The places of a row's parts, from its upper border.
struct Rows {
  double left, height, bar_top, bar, hidden, label;  ///< label: baseline of the segments' names
  bool named;
};
constexpr Rows spacious{
    .left = 8, .height = 66, .bar_top = 20, .bar = 19, .hidden = 6, .label = 59, .named = true};
constexpr Rows dense{
    .left = 78, .height = 19, .bar_top = 2, .bar = 11, .hidden = 4, .label = 0, .named = false};

/// Maximum number of dense rows. A figure of more rows has thin ones, without the hidden transfers.
constexpr std::size_t most_dense_rows = 24;
constexpr Rows thin{
    .left = 40, .height = 8, .bar_top = 5, .bar = 6, .hidden = 0, .label = 0, .named = false};

Rows dense_for(const std::vector<SharesRow>& rows) {
  Rows form = rows.size() > most_dense_rows ? thin : dense;
  form.left = svg::room_for_names(rows, form.left);
  return form;
}

std::string share_text(const SharesRow& row, std::size_t state) {
  return fmt::format("{}: {} {}, {:.1f} %", row.name, state_names[state].name,
                     duration_text(row.seconds[state]),
                     100 * row.seconds[state] / sum(row.seconds));
}

/// Strokes at 45 degrees, clipped to the box.
std::string hatch(svg::Point corner, double wide, double tall) {
  std::string d;
  for (double at = -tall; at < wide; at += 4) {
    const double from = std::max(at, 0.0);
    const double to = std::min(at + tall, wide);
    if (to <= from) continue;
    d += svg::stroke({corner.x + from, corner.y + tall - (from - at)},
                     {corner.x + to, corner.y + tall - (to - at)});
  }
  return d;
}

/// The segments of all rows, state by state: pointing at one keeps those of its state visible.
std::string segments(const std::vector<SharesRow>& rows, const svg::Axis& x, const Rows& form) {
  std::string out;
  for (std::size_t state = 0; state < n_states; ++state) {
    std::string boxes;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (rows[k].seconds[state] <= 0) continue;
      double before = 0;
      for (std::size_t s = 0; s < state; ++s) before += rows[k].seconds[s];
      const double from = x.at(before);
      const double to = x.at(before + rows[k].seconds[state]);
      const double top = form.height * static_cast<double>(k) + form.bar_top;
      boxes += svg::group("", share_text(rows[k], state),
                          svg::rect({from, top}, to - from, form.bar, "fill"));
    }
    if (!boxes.empty()) out += svg::group("one " + state_style(state), "", boxes);
  }
  return out;
}

std::string hidden_parts(const std::vector<SharesRow>& rows, const svg::Axis& x, const Rows& form) {
  std::string out;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (rows[k].hidden_wire <= 0 || form.hidden <= 0) continue;
    const double top = form.height * static_cast<double>(k) + form.bar_top + form.bar + 2;
    const double wide = x.at(std::min(rows[k].hidden_wire, x.high())) - x.from();
    const std::string box = svg::rect({x.from(), top}, wide, form.hidden, "hidden");
    out += svg::group(
        "one", fmt::format("{}: hidden wire {}", rows[k].name, duration_text(rows[k].hidden_wire)),
        box + svg::path(hatch({x.from(), top}, wide, form.hidden), "hatch"));
  }
  return out;
}

/// Names the states with at least 1 %, the largest first, as many as fit on the line.
std::string segment_names(const SharesRow& row, double from, double baseline) {
  std::string out;
  for (const std::size_t state : largest_states(row.seconds, 0.01)) {
    const std::string text =
        fmt::format("{} {}", state_names[state].name, duration_text(row.seconds[state]));
    const double end = from + 11 + svg::text_width(text);
    if (end > width) break;
    out += svg::rect({from, baseline - 8}, 8, 8, "fill " + state_style(state));
    out += svg::text({from + 12, baseline}, "start", "tick", text);
    from = end + 8;
  }
  return out;
}

std::string row_names(const std::vector<SharesRow>& rows, const svg::Axis& x, const Rows& form) {
  std::string out;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double top = form.height * static_cast<double>(k);
    if (!form.named && form.height < 12 && k % 2 != 0) continue;
    if (!form.named) {
      out += svg::row_name({form.left, top + form.bar_top + form.bar - 1}, rows[k].name);
      continue;
    }
    out += svg::text({x.from(), top + 14}, "start", "name", svg::squeezed(rows[k].name, 44));
    out += svg::text({width - right, top + 14}, "end", "tick", duration_text(sum(rows[k].seconds)));
    out += segment_names(rows[k], x.from(), top + form.label);
  }
  return out;
}

}  // namespace

std::string shares_figure(const std::vector<SharesRow>& rows, const std::string& title) {
  std::vector<SharesRow> drawn = rows;
  std::erase_if(drawn, [](const SharesRow& row) { return !(sum(row.seconds) > 0); });
  if (drawn.empty()) return "";
  const std::size_t all = drawn.size();
  if (all > most_rows) drawn.resize(most_rows);
  const Rows form = drawn.size() <= most_named_rows ? spacious : dense_for(drawn);
  double longest = 0;
  for (const SharesRow& row : drawn)
    longest = std::max({longest, sum(row.seconds), form.hidden > 0 ? row.hidden_wire : 0});
  const Unit unit = unit_for(Quantity::seconds, longest);
  const svg::Axis x(svg::Axis::Scale::linear, 0, longest, form.left, width - right);
  const svg::Axis labels(svg::Axis::Scale::linear, 0, longest / unit.size, form.left,
                         width - right);
  const double bottom = form.height * static_cast<double>(drawn.size()) + 4;
  std::string content = svg::bottom_axis(labels, form.bar_top, bottom, title + ", " + unit.name, 5);
  content += svg::group("set", "", segments(drawn, x, form) + hidden_parts(drawn, x, form));
  content += row_names(drawn, x, form);
  double height = bottom + 44;
  if (all > most_rows) {
    content += svg::text({form.left, height + 4}, "start", "tick",
                         fmt::format("and {} more, in the numbers below", all - most_rows));
    height += 16;
  }
  return svg::image(width, height, title + " by state", content);
}

}  // namespace gv

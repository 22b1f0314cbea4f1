#include "peer/show/page/page_style.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generated/page_style.h"
#include "peer/show/page/svg.h"

namespace gv {

const std::string_view page_palette = palette_css;
const std::string_view figure_style = figure_css;
const std::string_view page_rules = page_css;

std::string page_style() {
  return std::string(page_palette) + std::string(figure_style) + std::string(page_rules);
}

const std::array<StateName, n_states> state_names{{
    {"compute", "gradients and local steps"},
    {"mix", "averaging, the optimizer, sums of collectives"},
    {"code", "codecs: what travels is made smaller, and whole again"},
    {"late", "waits for what a neighbour has not sent yet"},
    {"wire", "waits for what is on its way: queue, bandwidth, latency"},
    {"evaluate", "measures the model"},
    {"checkpoint", "writes its state to disk"},
    {"other", "everything else"},
}};

std::string page_around(std::string_view title, std::string_view body, std::string_view style) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      svg::escape(title), style, body);
}

std::string key_html(std::string_view style) {
  return fmt::format("<span class=\"key {}\"></span>", style);
}

std::string line_key_html(std::size_t series, std::string_view attributes) {
  return fmt::format("<svg viewBox=\"0 0 34 10\"{}>{}</svg>", attributes,
                     svg::line({0, 5}, {34, 5}, "curve " + svg::series(series)));
}

std::string list_html(std::string_view style, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  return fmt::format("<ul class=\"{}\">\n<li>{}</li>\n</ul>\n", style,
                     fmt::join(items, "</li>\n<li>"));
}

std::string meanings_html(std::span<const std::pair<std::string_view, std::string_view>> meanings) {
  std::string out = "<dl>\n";
  for (const auto& [word, meaning] : meanings)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", word, svg::escape(meaning));
  return out + "</dl>\n";
}

double sum(const StateSeconds& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

std::vector<std::size_t> largest_states(const StateSeconds& seconds, double least_share) {
  std::vector<std::size_t> states;
  for (std::size_t k = 0; k < n_states; ++k)
    if (seconds[k] >= least_share * sum(seconds)) states.push_back(k);
  std::ranges::stable_sort(states, std::greater{}, [&](std::size_t k) { return seconds[k]; });
  return states;
}

std::string state_style(std::size_t state) {
  return fmt::format("t{}", state);
}

std::string states_legend(bool hidden_wire) {
  std::string out = "<ul class=\"legend\">\n";
  for (std::size_t k = 0; k < n_states; ++k)
    out += fmt::format("<li title=\"{}\">{}{}</li>\n", state_names[k].meaning,
                       key_html(state_style(k)), state_names[k].name);
  if (hidden_wire)
    out +=
        "<li title=\"on its way while the peer computed\"><svg class=\"swatch\" viewBox=\"0 0 12 "
        "12\"><path d=\"M0 4L4 0M0 8L8 0M0 12L12 0M4 12L12 4M8 12L12 8\" class=\"hatch\"/></svg>"
        "hidden wire</li>\n";
  return out + "</ul>\n";
}

}  // namespace gv

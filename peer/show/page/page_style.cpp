#include "peer/show/page/page_style.h"

#include <numeric>

#include <fmt/format.h>

#include "generated/page_style.h"

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

double sum(const StateSeconds& seconds) {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

std::string state_style(std::size_t state) {
  return fmt::format("t{}", state);
}

std::string states_legend(bool hidden_wire) {
  std::string out = "<ul class=\"legend\">\n";
  for (std::size_t k = 0; k < n_states; ++k)
    out += fmt::format("<li title=\"{}\"><span class=\"key {}\"></span>{}</li>\n",
                       state_names[k].meaning, state_style(k), state_names[k].name);
  if (hidden_wire)
    out +=
        "<li title=\"on its way while the peer computed\"><svg class=\"swatch\" viewBox=\"0 0 12 "
        "12\"><path d=\"M0 4L4 0M0 8L8 0M0 12L12 0M4 12L12 4M8 12L12 8\" class=\"hatch\"/></svg>"
        "hidden wire</li>\n";
  return out + "</ul>\n";
}

}  // namespace gv

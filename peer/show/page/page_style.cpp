#include "peer/show/page/page_style.h"

#include "generated/page_style.h"

namespace gv {

const std::string_view page_palette = palette_css;
const std::string_view figure_style = figure_css;
const std::string_view page_rules = page_css;

std::string page_style() {
  return std::string(page_palette) + std::string(figure_style) + std::string(page_rules);
}

}  // namespace gv

#pragma once

#include <string>
#include <vector>

#include "peer/show/page/report_page.h"

namespace gv {

/// A figure of a report, by a name that is made of its headings: "the-race-accuracy-against-time".
struct NamedFigure {
  std::string name;
  std::string picture;
};

/// All that have a picture, in the order of the page; no two of one name.
std::vector<NamedFigure> named_figures(const RunReport& report);

}  // namespace gv

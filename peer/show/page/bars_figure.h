#pragma once

#include <string>
#include <vector>

namespace gv {

struct Bar {
  std::string name;
  double height = 0;
};

/// Bars over names on a common axis from zero. Empty where none has a height.
std::string bars_figure(const std::vector<Bar>& bars,
                        const std::string& x_title,
                        const std::string& y_title);

}  // namespace gv

#include "optim/rl/environments.h"

#include <algorithm>

namespace gv {

// Each row is in the file with its name: cart_pole.cpp and so on.
EnvironmentRow cart_pole();
EnvironmentRow mountain_car();
EnvironmentRow acrobot();
EnvironmentRow bricks();

Dataset EnvironmentRow::shape_of_data() const {
  Dataset data;
  data.features = static_cast<std::uint32_t>(seen.elements());
  data.classes = actions;
  if (is_picture()) data.image = {seen.channels, seen.height, seen.width};
  return data;
}

const std::vector<EnvironmentRow>& environments() {
  static const std::vector<EnvironmentRow> table{cart_pole(), mountain_car(), acrobot(), bricks()};
  return table;
}

const EnvironmentRow* find_environment(const std::string& name) {
  const auto row = std::ranges::find(environments(), name, &EnvironmentRow::name);
  return row == environments().end() ? nullptr : &*row;
}

}  // namespace gv

#include "peer/record/held_ranges.h"

namespace gv {

std::vector<Range> held_ranges(const Report& report) {
  if (!report.holds.ranges.empty()) return report.holds.ranges;
  return {{report.holds.begin, report.model->floats().size()}};
}

/// Each number may be a lie, so none is added to another before it is bounded.
bool fit_model(const Report& report, std::size_t dimension) {
  std::size_t end = 0;
  std::size_t values = 0;
  for (const Range& range : held_ranges(report)) {
    if (range.begin < end || range.begin > dimension || range.count > dimension - range.begin)
      return false;
    end = range.begin + range.count;
    values += range.count;
  }
  return values == report.model->floats().size();
}

}  // namespace gv

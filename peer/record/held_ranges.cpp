#include "peer/record/held_ranges.h"

#include <algorithm>

#include "peer/fleet/fleet.h"

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

bool can_be_of(const Fleet& fleet, std::size_t dimension, const Report& report) {
  const PeerId n = fleet.size();
  const bool names_others =
      report.broken_by.value_or(0) >= n ||
      report.holds.model.value_or(0) >= std::max(fleet.models(), PeerId{1}) ||
      std::ranges::any_of(report.clipped, [=](const auto& c) { return c.of >= n; }) ||
      std::ranges::any_of(report.edges, [=](const auto& e) { return e.with >= n; });
  const bool whole =
      !report.trains || report.holds.model || report.model->floats().size() == dimension;
  return report.peer < n && !names_others && whole && report.model->size() % sizeof(float) == 0 &&
         fit_model(report, dimension);
}

}  // namespace gv

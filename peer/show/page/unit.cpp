#include "peer/show/page/unit.h"

#include <cmath>
#include <span>

#include <fmt/format.h>

#include "peer/record/report/screen.h"

namespace gv {
namespace {

struct Step {
  double size;
  const char* name;
};
constexpr Step times[] = {{1e-6, "us"}, {1e-3, "ms"}, {1, "s"}, {60, "min"}, {3600, "h"}};
constexpr Step sizes[] = {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}};

/// The largest step of which the value has at least two.
Unit among(std::span<const Step> steps, double value) {
  const Step* best = &steps.front();
  for (const Step& step : steps)
    if (value >= 2 * step.size) best = &step;
  return {best->size, best->name};
}

}  // namespace

Unit unit_for(Quantity what, double largest) {
  switch (what) {
    case Quantity::seconds:
      return among(times, largest);
    case Quantity::bytes:
      return among(sizes, largest);
    case Quantity::number:
      break;
  }
  return {};
}

std::string quantity_text(Quantity what, double value) {
  if (!std::isfinite(value)) return "-";
  switch (what) {
    case Quantity::seconds:
      return value == 0 ? "0 s" : seconds_text(value);
    case Quantity::bytes:
      return bytes_text(value);
    case Quantity::number:
      break;
  }
  return fmt::format("{:.5g}", value);
}

}  // namespace gv

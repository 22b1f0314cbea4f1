#pragma once

#include <string>
#include <vector>

#include "peer/show/page/svg.h"

namespace gv::svg {

struct Tick {
  double value;
  std::string label;
};

/// Values low .. high (0 < low < high when logarithmic) on the pixels from .. to.
class Axis {
 public:
  enum class Scale { linear, logarithmic };
  Axis(Scale scale, double low, double high, double from, double to);

  double at(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }
  double from() const { return from_; }
  double to() const { return to_; }
  /// Round values inside the range: 1, 2 or 5 times a power of ten; about `wanted`.
  std::vector<Tick> ticks(int wanted) const;

 private:
  Scale scale_;
  double low_, high_, from_, to_;
};

constexpr int usual_ticks = 8;  ///< of an axis of 800 pixels

/// Ticks, grid lines and titles of a plot; the marks are drawn over it.
std::string axes(const Axis& x,
                 const Axis& y,
                 std::string_view x_title,
                 std::string_view y_title,
                 int x_ticks = usual_ticks,
                 int y_ticks = 6);
/// Ticks, vertical grid lines from `top` and a title below a figure whose rows are named otherwise.
std::string bottom_axis(
    const Axis& x, double top, double bottom, std::string_view title, int wanted = usual_ticks);

}  // namespace gv::svg

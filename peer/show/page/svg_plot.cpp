#include "peer/show/page/svg_plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace gv::svg {
namespace {

std::string label_of(double value) {
  const double magnitude = std::abs(value);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e6)) return fmt::format("{:g}", value);
  return length(value) == "0" && value != 0 ? fmt::format("{:g}", value)
                                            : fmt::format("{:.6g}", value);
}

std::vector<Tick> linear_ticks(double low, double high, int wanted) {
  const double raw = (high - low) / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double digit : {5.0, 2.0, 1.0}) {
    if (digit * power >= raw * 0.999) step = digit * power;
  }
  std::vector<Tick> ticks;
  const auto first = static_cast<std::int64_t>(std::ceil(low / step - 1e-9));
  const auto last = static_cast<std::int64_t>(std::floor(high / step + 1e-9));
  for (std::int64_t k = first; k <= last; ++k) {
    const double value = static_cast<double>(k) * step;
    ticks.push_back({value, label_of(value)});
  }
  return ticks;
}

std::vector<Tick> decade_ticks(double low, double high, int wanted) {
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const auto last = static_cast<int>(std::ceil(std::log10(high) - 1e-9));
  const int every = std::max(1, (last - first) / wanted);
  const bool fine = (last - first) * 3 <= wanted;
  std::vector<Tick> ticks;
  for (int decade = first; decade <= last; decade += every) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10.0, decade);
      const bool inside = value >= low * 0.999 && value <= high * 1.001;
      if (inside && (fine || digit == 1.0)) ticks.push_back({value, label_of(value)});
    }
  }
  return ticks;
}

}  // namespace

Axis::Axis(Scale scale, double low, double high, double from, double to)
    : scale_(scale), low_(low), high_(high), from_(from), to_(to) {}

double Axis::at(double value) const {
  const double share = scale_ == Scale::linear ? (value - low_) / (high_ - low_)
                                               : std::log(value / low_) / std::log(high_ / low_);
  return from_ + share * (to_ - from_);
}

std::vector<Tick> Axis::ticks(int wanted) const {
  return scale_ == Scale::linear ? linear_ticks(low_, high_, wanted)
                                 : decade_ticks(low_, high_, wanted);
}

std::string bottom_axis(
    const Axis& x, double top, double bottom, std::string_view title, int wanted) {
  std::string out;
  for (const Tick& tick : x.ticks(wanted)) {
    const double at = x.at(tick.value);
    out += line({at, top}, {at, bottom}, "grid");
    out += text({at, bottom + 16}, "middle", "tick", tick.label);
  }
  out += line({x.from(), bottom}, {x.to(), bottom}, "axis");
  return out + text({(x.from() + x.to()) / 2, bottom + 36}, "middle", "title", title);
}

std::string axes(const Axis& x,
                 const Axis& y,
                 std::string_view x_title,
                 std::string_view y_title,
                 int x_ticks,
                 int y_ticks) {
  std::string out = bottom_axis(x, y.to(), y.from(), x_title, x_ticks);
  for (const Tick& tick : y.ticks(y_ticks)) {
    const double at = y.at(tick.value);
    out += line({x.from(), at}, {x.to(), at}, "grid");
    out += text({x.from() - 8, at + 4}, "end", "tick", tick.label);
  }
  out += line({x.from(), y.from()}, {x.from(), y.to()}, "axis");
  return out + text({x.from() - 52, y.to() - 14}, "start", "title", y_title);
}

}  // namespace gv::svg

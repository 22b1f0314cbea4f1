#include "peer/study/compare/figures.h"

#include <cmath>

#include <fmt/format.h>

#include "optim/printable.h"

namespace gv {

std::string digits(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return "-";
  if (size == 0) return "0";
  if (size >= 1e6 || size < 1e-4) return fmt::format("{:.2e}", value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  const int before = size < 9.995 ? static_cast<int>(std::floor(std::log10(size * 1.0005))) + 1 : 2;
  return fmt::format("{:.{}f}", value, 3 - before);
}

TimeUnit time_unit(double seconds) {
  if (seconds >= 3 * 3600) return {3600, "h"};
  if (seconds >= 1 || seconds == 0) return {1, "s"};
  if (seconds >= 1e-3) return {1e-3, "ms"};
  return {1e-6, "us"};
}

std::string time_text(double seconds) {
  const TimeUnit unit = time_unit(std::abs(seconds));
  return fmt::format("{} {}", digits(seconds / unit.seconds), unit.name);
}

std::string left(const std::string& text, std::size_t columns) {
  const std::size_t width = columns_of(text);
  return text + std::string(width < columns ? columns - width : 0, ' ');
}

std::string right(const std::string& text, std::size_t columns) {
  const std::size_t width = columns_of(text);
  return std::string(width < columns ? columns - width : 0, ' ') + text;
}

}  // namespace gv

#include "peer/fleet/reference/range_text.h"

#include <cmath>

#include <fmt/format.h>

namespace gv {
namespace {

/// Whole numbers have commas until they are so large that zeros would have to be counted.
std::string number_text(double value) {
  std::string text = fmt::format("{:g}", value);
  if (value == std::floor(value) && std::abs(value) < 1e9) {
    text = fmt::format("{:.0f}", value);
    for (std::size_t at = text.size(); at > (value < 0 ? 4 : 3); at -= 3) text.insert(at - 3, ",");
    return text;
  }
  if (std::stod(text) != value) text = fmt::format("{}", value);  // 0.999999999 is not 1
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  std::string power = text.substr(e + 2);
  power.erase(0, power.find_first_not_of('0'));
  return text.substr(0, e + 1) + (text[e + 1] == '-' ? "-" : "") + power;
}

}  // namespace

std::string range_text(double least, double most) {
  return fmt::format("{} to {}", number_text(least), number_text(most));
}

}  // namespace gv

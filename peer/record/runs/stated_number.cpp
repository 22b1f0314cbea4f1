#include "peer/record/runs/stated_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace gv {
namespace {

struct StatedUnit {
  std::string_view name;
  double size;
  std::string_view in;
};
constexpr std::array units{StatedUnit{"", 1, ""},
                           StatedUnit{"us", 1e-6, "s"},
                           StatedUnit{"ms", 1e-3, "s"},
                           StatedUnit{"s", 1, "s"},
                           StatedUnit{"min", 60, "s"},
                           StatedUnit{"h", 3600, "s"},
                           StatedUnit{"kbit", 1e-3, "Mbit/s"},
                           StatedUnit{"Mbit", 1, "Mbit/s"},
                           StatedUnit{"Gbit", 1e3, "Mbit/s"},
                           StatedUnit{"kB/s", 8e-3, "Mbit/s"},
                           StatedUnit{"MB/s", 8, "Mbit/s"},
                           StatedUnit{"GB/s", 8e3, "Mbit/s"}};

}  // namespace

std::optional<StatedNumber> stated_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto known = std::ranges::find(units, unit, &StatedUnit::name);
  if (known == units.end()) return std::nullopt;
  return StatedNumber{value * known->size, known->in};
}

std::optional<NumberedLabel> numbered_label(const std::string& label) {
  if (const auto number = stated_number(label)) return NumberedLabel{"", *number};
  const std::size_t dash = label.rfind('-');
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  const auto number = stated_number(std::string_view(label).substr(dash + 1));
  if (!number) return std::nullopt;
  return NumberedLabel{label.substr(0, dash), *number};
}

}  // namespace gv

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gv {

/// A number as fleet files state it: "5 ms", "100 Mbit", "0.05", "16".
struct StatedNumber {
  double value = 0;       ///< in `unit`
  std::string_view unit;  ///< "s", "Mbit/s", or "" of a plain number
};

/// Returns nothing for what is no such number.
std::optional<StatedNumber> stated_number(std::string_view text);

/// A label that is a number, or a name with one at its end: "16", "easgd-16".
struct NumberedLabel {
  std::string name;  ///< "easgd"; empty of a number alone
  StatedNumber number;
};
std::optional<NumberedLabel> numbered_label(const std::string& label);

}  // namespace gv

#pragma once

#include <string>
#include <string_view>

namespace gv {

/// Three digits, without an exponent up to a million: "84.8", "1317", "0.0312".
std::string digits(double value);

/// The unit in which a column of times is written, so that its numbers compare at a glance.
struct TimeUnit {
  double seconds = 1;
  std::string_view name = "s";
};
/// The unit in which this many seconds are at least 1: us, ms, s, or h from 3 hours on.
TimeUnit time_unit(double seconds);

/// "84.8 s", "12.3 ms".
std::string time_text(double seconds);

/// The text in a field of so many columns, with UTF-8's continuation bytes not counted.
std::string left(const std::string& text, std::size_t columns);
std::string right(const std::string& text, std::size_t columns);

}  // namespace gv

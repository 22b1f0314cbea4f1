#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/study/compare/target.h"

namespace gv {

/// A claim that a comparison must satisfy:
///
///   A < B @ MEASURE [by 2x] [where KEY=VALUE, ...]          A is better, at least by the factor
///   A ~ B @ MEASURE within 3 % [where ...]                  or `within 1 pp` for an accuracy
///   A @ MEASURE = 41 s within 20 % [where ...]              times and bytes have a unit
struct ExpectedClaim {
  enum class Kind : std::uint8_t { before, alike, value };
  std::string text;  ///< as given
  Kind kind = Kind::before;
  std::string a, b;
  Measure measure = Measure::time;
  double factor = 1;  ///< for `before`
  double value = 0;   ///< for `value`: seconds, bytes, or the number itself
  double margin = 0;  ///< for alike and value: a fraction; for accuracies a difference
  std::vector<std::pair<std::string, std::string>> where;
};

/// Throws std::invalid_argument with the text, the error in it, and the grammar.
ExpectedClaim parse_claim(const std::string& text);

}  // namespace gv

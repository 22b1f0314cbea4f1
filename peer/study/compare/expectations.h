#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/compare/comparison.h"
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

/// The outcome of a claim. A claim is a single question asked in advance, so its interval is not
/// corrected for multiple comparisons.
struct JudgedClaim {
  enum class Verdict : std::uint8_t { passed, missed, undecided };
  std::string text;
  Verdict verdict = Verdict::undecided;
  std::string reason;  ///< measured values, or why the claim is undecided
};

/// Tests a claim in every section that has contenders matching its `where`. The claim passes if it
/// holds in all these sections, and is missed if it is missed in one. A name means the contender
/// with that label, or the only one that has all words of the name among its values. Throws
/// std::invalid_argument if a name matches no contender or several.
JudgedClaim judge_claim(const Comparison& comparison, const ExpectedClaim& claim);

std::string_view name_of(JudgedClaim::Verdict verdict);
/// Returns a line of the report.
std::string to_string(const JudgedClaim& claim);
Json claims_json(const std::vector<JudgedClaim>& claims);

}  // namespace gv

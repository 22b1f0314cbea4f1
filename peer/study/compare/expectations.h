#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/expectation_text.h"

namespace gv {

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

#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/compare/comparison.h"
#include "peer/study/compare/expectation_text.h"

namespace gv {

/// The outcome of a claim, which is one question that was asked beforehand, so that its interval is
/// not corrected for others.
struct JudgedClaim {
  enum class Verdict : std::uint8_t { passed, missed, undecided };
  std::string text;
  Verdict verdict = Verdict::undecided;
  std::string reason;  ///< what was measured, or why it cannot be decided
};

/// Holds the comparison to a claim, in every section with contenders that its `where` means; it
/// passes when it holds in all of them, and is missed when it is in one. Among those, names mean
/// the contender with that label, or the only one that has all of its words among its values.
/// Throws std::invalid_argument where a name means nobody or several.
JudgedClaim judge_claim(const Comparison& comparison, const ExpectedClaim& claim);

std::string_view name_of(JudgedClaim::Verdict verdict);
/// A line of the screen.
std::string to_string(const JudgedClaim& claim);
Json claims_json(const std::vector<JudgedClaim>& claims);

}  // namespace gv

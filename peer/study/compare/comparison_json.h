#pragma once

#include <string>
#include <utility>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/compare/comparison.h"

namespace gv {

/// Returns schema grapevine.compare/1: target, sections with their contenders (means, intervals,
/// every seed), all pairs with p values, verdicts and remarks. `left_out`: runs that could not be
/// used, with reasons.
Json comparison_json(const Comparison& comparison, const std::vector<std::string>& left_out);

/// Returns a pair as JSON, with the contenders' names.
Json pair_json(const Section& section, const PairResult& pair);

}  // namespace gv

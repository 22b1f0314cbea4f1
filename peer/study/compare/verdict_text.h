#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peer/study/compare/comparison.h"

namespace gv {

/// Says in a sentence what the section answers: who is first, or that nobody can be told from whom.
std::string verdict_of(const Comparison& comparison, const Section& section);

/// The best contender that is told apart from the first one: why it takes longer is worth a word.
/// Nothing where there is none.
std::optional<std::size_t> explained(const Section& section);

/// Says what a reader should know besides: why the second takes longer, and where worst local
/// models lag behind. Sentences.
std::vector<std::string> remarks_of(const Comparison& comparison, const Section& section);

/// "1.98x (1.93 .. 2.03)" of ratios, "+1.2 pp (0.4 .. 2.0)" of accuracies.
std::string difference_text(const PairResult& pair);

}  // namespace gv

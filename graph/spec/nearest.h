#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// Returns the word of `known` that `word` was probably meant to be: the first one at the smallest
/// edit distance, if that is at most max(2, length / 3); empty if there is none. An edit inserts,
/// deletes or changes a letter, or swaps two neighbouring ones (Damerau, Comm. ACM 1964, in the
/// restricted form that edits no letter twice).
/// Upper and lower case count as equal.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// Returns "did you mean `guess`?", or `otherwise` if there is no guess.
std::string did_you_mean(const std::string& guess, const std::string& otherwise = "");

}  // namespace gv

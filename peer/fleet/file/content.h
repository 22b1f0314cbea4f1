#pragma once

#include <string>
#include <vector>

namespace gv {

/// 32 hex digits of XXH3-128 over what is in these files, in their order, whatever they are called.
/// Throws std::runtime_error "path: what is wrong" when one cannot be read.
std::string content_of(const std::vector<std::string>& files);

/// Words of a fleet file for a digest: they may hold anything, so each says how long it is.
std::string counted_words(const std::vector<std::string>& words);

}  // namespace gv

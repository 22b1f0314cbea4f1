#pragma once

#include <string>
#include <vector>

namespace gv {

/// Returns 32 hex digits of XXH3-128 over the files' content, in order, whatever their names.
/// Throws std::runtime_error "path: what is wrong" if one cannot be read.
std::string content_of(const std::vector<std::string>& files);

/// Returns words of a fleet file for a digest. Each word has its length, because it may hold any
/// bytes.
std::string counted_words(const std::vector<std::string>& words);

}  // namespace gv

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A text as one scalar on one line, in YAML 1.2's double quotes. It must be UTF-8.
std::string yaml_word(std::string_view text);
/// ["a", "b"]
std::string yaml_list(const std::vector<std::string>& words);

/// Returns whether yaml_block can say it: UTF-8 of printable lines.
bool fits_yaml_block(std::string_view text);
/// A text of several lines behind its key, as YAML's literal block: the bytes as they are, and a
/// reader sees them. `indent`: of the key.
std::string yaml_block(std::string_view text, std::size_t indent);

/// Moves each line that is not empty so many spaces further in.
std::string indented(std::string_view text, std::size_t spaces);

}  // namespace gv

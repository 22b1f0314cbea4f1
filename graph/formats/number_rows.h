#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A line of numbers in a text file.
struct NumberRow {
  std::size_t line = 0;  ///< from 1
  std::vector<double> values;
};

/// The lines of finite numbers in `text`, separated by spaces or commas; `#` begins a comment, and
/// lines without numbers are left out. Throws GraphFileError "path:line: what".
std::vector<NumberRow> parse_number_rows(std::string_view text, const std::string& path);

/// Does the same for a file; see file_bytes for what is refused.
std::vector<NumberRow> read_number_rows(const std::string& path);

}  // namespace gv

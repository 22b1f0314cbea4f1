#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gv {

/// Returns whether text is UTF-8 (RFC 3629) of characters that are shown, not obeyed: nothing in it
/// moves the cursor, turns the direction of writing, hides a file's name or breaks JSON.
bool is_printable(std::string_view text);

/// Returns at most `most` bytes of text, each that is not printable as `?`; line breaks stay. So a
/// hostile file neither floods nor controls the terminal, and a caret below still points well.
std::string printable(std::string_view text, std::size_t most);

/// The text as one word of a POSIX shell, in quotes where it needs them.
std::string shell_word(const std::string& text);

/// Returns the characters of a UTF-8 text, each of which takes a column of a terminal.
std::size_t columns_of(std::string_view text);
/// Returns as many characters from the front as fit.
std::string cut_to_columns(std::string_view text, std::size_t columns);

}  // namespace gv

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gv {

/// Returns whether text is UTF-8 (RFC 3629) without control characters: it cannot move the cursor,
/// change the direction of writing, hide a file's name or break JSON.
bool is_printable(std::string_view text);

/// Returns at most `most` bytes of text, with `?` for each unprintable byte; keeps line breaks. So
/// a hostile file neither floods nor controls the terminal, and a caret below stays aligned.
std::string printable(std::string_view text, std::size_t most);

/// The text as one word of a POSIX shell, in quotes if needed.
std::string shell_word(const std::string& text);
/// The path as one word that no command takes for an option: `./-x` instead of `-x`.
std::string shell_path(const std::string& path);

/// Returns the reason why a text is not printable, and the remedy, for a message after its name.
std::string why_unprintable(std::string_view text);

/// Returns the number of characters of a UTF-8 text, each of which takes a column of a terminal.
std::size_t columns_of(std::string_view text);
/// Returns the leading characters that fit into `columns`.
std::string cut_to_columns(std::string_view text, std::size_t columns);

/// Returns "1 cell" or "3 cells"; `many`: the plural, if it is irregular.
std::string counted(std::size_t number, const std::string& one, const std::string& many = "");

}  // namespace gv

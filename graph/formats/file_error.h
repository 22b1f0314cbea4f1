#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace gv {

/// A graph or weight file that cannot be used. It is the user's mistake, so it is found at start-up
/// and commands end with the exit code of wrong usage. The text is "path:line: what is wrong".
class GraphFileError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Throws GraphFileError "where" + "what"; `where` is "path: " or "path:line: ".
[[noreturn]] void refuse_file(const std::string& where, const std::string& what);

/// Text of a file as a message may quote it: at most 60 bytes, and every byte that is not printable
/// ASCII as \xNN, so that a hostile file neither floods nor controls the terminal.
std::string excerpt(std::string_view text);

}  // namespace gv

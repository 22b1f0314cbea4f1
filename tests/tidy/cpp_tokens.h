#pragma once

#include <span>
#include <string>
#include <vector>

namespace gv::tidy {

/// A word of a C++ source. Comments and lines of the preprocessor are left out, and string literals
/// that stand side by side are one.
struct Token {
  enum class Kind { word, number, text, sign };
  Kind kind;
  std::string text;  ///< of a string literal, what it says; "->" and "::" are one sign each
  std::size_t line;  ///< from 1

  bool is(const char* sign) const { return kind != Kind::text && text == sign; }
};
using Tokens = std::span<const Token>;

std::vector<Token> tokens_of(const std::vector<std::string>& lines);

/// Returns where the bracket at `open` is closed; the last token where nothing closes it.
std::size_t closing(Tokens tokens, std::size_t open);
/// The parts between `sign`s that stand in no bracket; one part, maybe empty, where there is none.
std::vector<Tokens> split(Tokens tokens, const char* sign);

}  // namespace gv::tidy

#pragma once

#include <span>
#include <string>
#include <vector>

namespace gv::tidy {

/// A token of a C++ source. Comments and preprocessor lines are left out, and adjacent string
/// literals are one token.
struct Token {
  enum class Kind { word, number, text, sign };
  Kind kind;
  std::string text;  ///< content of a string literal; "->" and "::" are one sign each
  std::size_t line;  ///< line number, from 1

  bool is(const char* sign) const { return kind != Kind::text && text == sign; }
};
using Tokens = std::span<const Token>;

std::vector<Token> tokens_of(const std::vector<std::string>& lines);

/// Returns the position of the bracket that closes `open`; the last token if none does.
std::size_t closing(Tokens tokens, std::size_t open);
/// Returns the parts between `sign`s outside brackets; one part, maybe empty, if there is no sign.
std::vector<Tokens> split(Tokens tokens, const char* sign);

}  // namespace gv::tidy

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/cpp_tokens.h"

namespace gv::tidy {

/// Named texts of a source: `constexpr const char* remedy = "..."`. If several functions use one
/// name, the latest definition counts.
using NamedTexts = std::map<std::string, std::string>;
NamedTexts named_texts(Tokens tokens);
/// Returns the name and the text if token `at` is the name in such a definition.
std::optional<std::pair<std::string, std::string>> named_text_at(Tokens tokens, std::size_t at);

/// Returns the text of an expression: literals, sums and fmt::format, with "<name>" for a value
/// that is known only at run time. An inner choice of two texts is "(one | other)".
std::string spoken(Tokens expression, const NamedTexts& texts);
/// As spoken(), but with a text for each branch of an outermost choice.
std::vector<std::string> all_spoken(Tokens expression, const NamedTexts& texts);

/// Returns the number of words of two letters or more, without names of placeholders.
int count_words(const std::string& text);

/// Returns `text` with values for its placeholders "<name>"; a name without a value stays.
std::string filled(const std::string& text, const std::map<std::string, std::string>& values);

}  // namespace gv::tidy

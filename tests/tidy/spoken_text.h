#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/tidy/cpp_tokens.h"

namespace gv::tidy {

/// Named texts of a source: `constexpr const char* remedy = "..."`. Where several functions call
/// theirs the same, the last one counts until another is met.
using NamedTexts = std::map<std::string, std::string>;
NamedTexts named_texts(Tokens tokens);
/// The name and the text where token `at` is the name in such a definition.
std::optional<std::pair<std::string, std::string>> named_text_at(Tokens tokens, std::size_t at);

/// Returns what an expression says: literals, sums of them and fmt::format, with "<name>" for what
/// only a running program knows. A choice of two texts inside of it is "(one | other)".
std::string spoken(Tokens expression, const NamedTexts& texts);
/// The same, with each branch of an outermost choice for itself.
std::vector<std::string> all_spoken(Tokens expression, const NamedTexts& texts);

/// Words of two letters or more that are no names of what is filled in.
int count_words(const std::string& text);

/// `text` with the values for its placeholders "<name>"; a name without a value stays.
std::string filled(const std::string& text, const std::map<std::string, std::string>& values);

}  // namespace gv::tidy

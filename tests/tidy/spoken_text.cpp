#include "tests/tidy/spoken_text.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace gv::tidy {
namespace {

// Angle brackets of the message itself, as in "<graph>", are not placeholders: until the whole text
// is known, these characters stand for the brackets of a placeholder.
constexpr char name_begins = '\1', name_ends = '\2';

std::string placeholder(std::string name) {
  while (name.ends_with('_')) name.pop_back();
  std::ranges::replace(name, '_', ' ');
  if (name.empty()) name = "...";
  name.insert(name.begin(), name_begins);
  name.push_back(name_ends);
  return name;
}

bool says_text(Tokens tokens, const NamedTexts& texts) {
  return std::ranges::any_of(tokens, [&](const Token& t) {
    return t.kind == Token::Kind::text || (t.kind == Token::Kind::word && texts.contains(t.text));
  });
}

/// Returns the position of the bracket of `f(a, b)` or `x.f(a, b)`; 0 for anything else.
std::size_t call_in(Tokens tokens) {
  if (tokens.size() < 3) return 0;
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is("(") && !tokens[i].is("[") && !tokens[i].is("{")) continue;
    const std::size_t end = closing(tokens, i);
    if (end + 1 == tokens.size())
      return tokens[i].is("[") || tokens[i - 1].kind != Token::Kind::word ? 0 : i;
    i = end;
  }
  return 0;
}

/// Returns a name for an inserted value: `peer` for `link.peer`, `path` for `printable(path, 100)`.
std::string name_of(Tokens tokens) {
  static const std::set<std::string> reasons{"what", "message", "strerror", "problem_of"};
  static const std::set<std::string> passed{"size",  "string", "str",  "c_str", "value",
                                            "front", "back",   "data", "get",   "dump"};
  if (tokens.empty()) return "";
  if (const std::size_t open = call_in(tokens); open > 0) {
    const std::string& function = tokens[open - 1].text;
    const Tokens inside = tokens.subspan(open + 1, tokens.size() - open - 2);
    if (reasons.contains(function)) return "reason";
    if (!inside.empty()) return name_of(split(inside, ",").front());
    return passed.contains(function) && open >= 3 ? name_of(tokens.first(open - 2)) : function;
  }
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (tokens[i].is("]") || tokens[i].is(")")) return name_of(tokens.first(i));
    if (tokens[i].kind == Token::Kind::word) return tokens[i].text;
  }
  return "number";
}

std::string choice(const std::string& one, const std::string& other) {
  std::string both("(");
  both.append(one).append(one.empty() || other.empty() ? "" : " | ").append(other).append(")");
  return both;
}

class Speaker {
 public:
  explicit Speaker(const NamedTexts& texts) : texts_(texts) {}

  std::string of(Tokens expression) const {
    std::string said;
    for (const Tokens part : split(expression, "+")) said += of_part(part);
    return said;
  }

  std::vector<std::string> alternatives(Tokens expression) const {
    const std::vector<Tokens> asked = split(expression, "?");
    if (asked.size() < 2) return {of(expression)};
    const std::size_t from = asked[0].size() + 1;
    const std::vector<Tokens> branches = split(expression.subspan(from), ":");
    if (asked.size() > 2 || branches.size() != 2) return {of_choice(expression)};
    std::vector<std::string> all = alternatives(branches[0]);
    for (std::string& other : alternatives(branches[1])) all.push_back(std::move(other));
    return all;
  }

 private:
  std::string of_part(Tokens part) const {
    if (part.empty()) return "";
    if (part.front().is("(") && closing(part, 0) + 1 == part.size())
      return of(part.subspan(1, part.size() - 2));
    if (!says_text(part, texts_)) return placeholder(name_of(part));
    if (split(part, "?").size() > 1) return of_choice(part);
    if (part.size() == 1) return text_of(part.front());
    if (part.size() == 2 && part.back().kind == Token::Kind::word) return text_of(part.front());
    return of_call(part);
  }

  std::string text_of(const Token& token) const {
    return token.kind == Token::Kind::text ? token.text : texts_.at(token.text);
  }

  std::string of_choice(Tokens part) const {
    const std::vector<Tokens> asked = split(part, "?");
    const std::vector<Tokens> branches = split(part.subspan(asked[0].size() + 1), ":");
    if (branches.size() < 2) return placeholder("");
    const std::size_t rest = branches[0].size() + 1;
    return choice(of(branches[0]), of(part.subspan(asked[0].size() + 1 + rest)));
  }

  std::string of_call(Tokens part) const {
    const std::size_t open = call_in(part);
    if (open == 0) return placeholder(name_of(part));
    const std::vector<Tokens> arguments =
        split(part.subspan(open + 1, part.size() - open - 2), ",");
    const std::string& function = part[open - 1].text;
    if (function == "format") return formatted(arguments);
    static const std::set<std::string> as_it_is{"string",  "string_view", "printable",
                                                "wrapped", "json_text",   "shown"};
    if (as_it_is.contains(function)) return of(arguments.front());
    if (function == "counted") return of(arguments[0]) + " " + of_plural(arguments);
    return placeholder(name_of(part));
  }

  /// Returns `step(s)`, or `(family | families)` if the plural is irregular.
  std::string of_plural(const std::vector<Tokens>& arguments) const {
    const std::string one = of(arguments[1]);
    return arguments.size() > 2 ? choice(one, of(arguments[2])) : one + "(s)";
  }

  std::string formatted(const std::vector<Tokens>& arguments) const {
    const std::string pattern = of(arguments.front());
    std::string said;
    std::size_t next = 1;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const char c = pattern[i];
      if ((c == '{' || c == '}') && i + 1 < pattern.size() && pattern[i + 1] == c) {
        said += c;
        ++i;
      } else if (c == '{') {
        std::size_t which = next;
        if (std::isdigit(static_cast<unsigned char>(pattern[i + 1])) != 0)
          which = 1 + static_cast<std::size_t>(pattern[i + 1] - '0');
        else
          ++next;
        said += which < arguments.size() ? of(arguments[which]) : placeholder("");
        for (int depth = 0; i < pattern.size(); ++i) {  // {:{}} has two arguments
          if (pattern[i] == '{' && ++depth > 1) ++next;
          if (pattern[i] == '}' && --depth == 0) break;
        }
      } else {
        said += c;
      }
    }
    return said;
  }

  const NamedTexts& texts_;
};

std::string with_brackets(std::string text) {
  std::ranges::replace(text, name_begins, '<');
  std::ranges::replace(text, name_ends, '>');
  return text;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> named_text_at(Tokens tokens, std::size_t at) {
  if (at == 0 || at + 3 >= tokens.size() || tokens[at].kind != Token::Kind::word) return {};
  const std::size_t equals = tokens[at + 1].is("[") ? at + 3 : at + 1;
  if (equals + 1 >= tokens.size() || !tokens[equals].is("=")) return {};
  const Token& before = tokens[at - 1];
  const bool declared = equals > at + 1 || before.is("*") || before.is("string_view") ||
                        before.is("string") || before.is("auto");
  const Tokens rest = tokens.subspan(equals + 1);
  if (!declared || rest.size() < 2 || rest[0].kind != Token::Kind::text || !rest[1].is(";"))
    return {};
  return std::pair{tokens[at].text, rest.front().text};
}

NamedTexts named_texts(Tokens tokens) {
  NamedTexts texts;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (const auto named = named_text_at(tokens, i)) texts.insert(*named);
  return texts;
}

std::string spoken(Tokens expression, const NamedTexts& texts) {
  return with_brackets(Speaker(texts).of(expression));
}

std::vector<std::string> all_spoken(Tokens expression, const NamedTexts& texts) {
  std::vector<std::string> all = Speaker(texts).alternatives(expression);
  for (std::string& one : all) one = with_brackets(one);
  return all;
}

int count_words(const std::string& text) {
  int words = 0, letters = 0;
  bool named = false;
  for (const char c : text + " ") {
    if (c == '<') named = true;
    if (c == '>') named = false;
    if (!named && (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_')) {
      ++letters;
    } else {
      words += letters >= 2 ? 1 : 0;
      letters = 0;
    }
  }
  return words;
}

std::string filled(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string whole;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = text[i] == '<' ? text.find('>', i) : std::string::npos;
    const auto value =
        end == std::string::npos ? values.end() : values.find(text.substr(i + 1, end - i - 1));
    if (value == values.end()) {
      whole += text[i++];
    } else {
      whole += value->second;
      i = end + 1;
    }
  }
  return whole;
}

}  // namespace gv::tidy

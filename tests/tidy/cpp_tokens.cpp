#include "tests/tidy/cpp_tokens.h"

#include <cctype>
#include <string_view>

namespace gv::tidy {
namespace {

bool of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Reads a source from its first character to its last.
class Scanner {
 public:
  explicit Scanner(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text_ += line + "\n";
  }

  std::vector<Token> scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        fresh_ = true;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else if (c == '#' && fresh_) {
        skip_directive();
      } else if (!skip_comment()) {
        take(c);
        fresh_ = false;
      }
    }
    return std::move(tokens_);
  }

 private:
  bool next_is(std::string_view words) const {
    return text_.compare(at_, words.size(), words) == 0;
  }

  void move_to(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
  }

  void skip_directive() {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    move_to(end);
  }

  bool skip_comment() {
    if (next_is("//")) return move_to(text_.find('\n', at_)), true;
    if (!next_is("/*")) return false;
    const std::size_t end = text_.find("*/", at_ + 2);
    return move_to(end == std::string::npos ? end : end + 2), true;
  }

  void take(char c) {
    if (next_is("R\"")) return take_raw();
    if (c == '"') return take_text();
    if (c == '\'') return take_character();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return take_number();
    if (of_word(c)) return add_until(Token::Kind::word, end_of(at_));
    add_until(Token::Kind::sign, at_ + (next_is("->") || next_is("::") ? 2 : 1));
  }

  std::size_t end_of(std::size_t at) const {
    while (at < text_.size() && of_word(text_[at])) ++at;
    return at;
  }

  void add_until(Token::Kind kind, std::size_t end) {
    tokens_.push_back({kind, text_.substr(at_, end - at_), line_});
    at_ = end;
  }

  void add_text(const std::string& said) {
    if (!tokens_.empty() && tokens_.back().kind == Token::Kind::text)
      tokens_.back().text += said;
    else
      tokens_.push_back({Token::Kind::text, said, line_});
  }

  void take_raw() {
    const std::size_t open = text_.find('(', at_);
    std::string end(")");
    end.append(text_, at_ + 2, open - at_ - 2).append("\"");
    const std::size_t close = text_.find(end, open);
    add_text(text_.substr(open + 1, close - open - 1));
    move_to(close + end.size());
  }

  void take_text() {
    std::string said;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      said += text_[at_] == '\\' ? escaped(text_[++at_]) : text_[at_];
    ++at_;
    add_text(said);
  }

  static char escaped(char c) {
    if (c == 'n') return '\n';
    return c == 't' ? '\t' : c;
  }

  void take_character() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '\'') end += text_[end] == '\\' ? 2 : 1;
    add_until(Token::Kind::number, end + 1);
  }

  /// Takes a number: 0x1F, 1e-12, 1'000'000, 2.5F.
  void take_number() {
    std::size_t end = at_;
    while (end < text_.size() && (of_word(text_[end]) || text_[end] == '.' || text_[end] == '\'' ||
                                  ((text_[end] == '-' || text_[end] == '+') &&
                                   (text_[end - 1] == 'e' || text_[end - 1] == 'E'))))
      ++end;
    add_until(Token::Kind::number, end);
  }

  std::string text_;
  std::size_t at_ = 0, line_ = 1;
  bool fresh_ = true;  ///< whether only spaces precede `at_` in its line
  std::vector<Token> tokens_;
};

bool opens(const Token& t) {
  return t.is("(") || t.is("[") || t.is("{");
}

bool closes(const Token& t) {
  return t.is(")") || t.is("]") || t.is("}");
}

}  // namespace

std::vector<Token> tokens_of(const std::vector<std::string>& lines) {
  return Scanner(lines).scan();
}

std::size_t closing(Tokens tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (opens(tokens[i])) ++depth;
    if (closes(tokens[i]) && --depth == 0) return i;
  }
  return tokens.size() - 1;
}

std::vector<Tokens> split(Tokens tokens, const char* sign) {
  std::vector<Tokens> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (opens(tokens[i])) i = closing(tokens, i);
    if (!tokens[i].is(sign)) continue;
    parts.push_back(tokens.subspan(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(tokens.subspan(begin));
  return parts;
}

}  // namespace gv::tidy

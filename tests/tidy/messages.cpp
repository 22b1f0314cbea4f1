#include "tests/tidy/messages.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "tests/tidy/screen_places.h"
#include "tests/tidy/spoken_text.h"

namespace gv::tidy {
namespace {

const std::set<std::string> telling{"fail",
                                    "fail_at",
                                    "refuse",
                                    "refuse_file",
                                    "refuse_shape",
                                    "refuse_json",
                                    "refuse_goal",
                                    "refusal",
                                    "say_refusal",
                                    "error",
                                    "say",
                                    "log",
                                    "note",
                                    "on_note",
                                    "lose",
                                    "give_up",
                                    "tell",
                                    "out_of_memory",
                                    "cannot_begin",
                                    "finding",
                                    "warn",
                                    "drop",
                                    "give_up_dial",
                                    "close_for",
                                    "go_without",
                                    "part",
                                    "quarantine",
                                    "complain",
                                    "abandon",
                                    "report_error",
                                    "refuse_address",
                                    "refuse_key",
                                    "refuse_model",
                                    "refuse_partition",
                                    "refuse_picture",
                                    "refuse_run",
                                    "refuse_text",
                                    "refuse_zip"};
const std::set<std::string> kept_reasons{"why",     "wrong",   "reason",   "refused", "refusal",
                                         "problem", "warning", "failure_", "failure", "judgement_",
                                         "note",    "message", "text"};

/// Returns the text with every run of spaces and line ends as one space, and none at the ends.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t';
    if (!space)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

bool is_note(const std::string& text) {
  static const char* const marks[] = {"note ", "note:", "warning", "error:", "notice"};
  return std::ranges::any_of(marks, [&](const char* mark) { return text.starts_with(mark); });
}

/// A function that throws or passes on its arguments: its parameters, and the text that it makes.
struct Helper {
  std::vector<std::string> parameters;
  std::string text;
  std::size_t begin, end;  ///< body
};

class Collector {
 public:
  explicit Collector(const File& file)
      : file_(file), tokens_(tokens_of(file.lines)), texts_(named_texts(tokens_)) {
    find_helpers();
  }

  std::vector<Message> collect() {
    for (at_ = 0; at_ + 1 < tokens_.size(); ++at_) {
      if (const auto named = named_text_at(tokens_, at_)) texts_[named->first] = named->second;
      look();
    }
    return std::move(found_);
  }

 private:
  Tokens all() const { return tokens_; }
  Tokens inside(std::size_t open) const {
    return all().subspan(open + 1, closing(tokens_, open) - open - 1);
  }
  bool word_at(std::size_t i, const char* word) const {
    return i < tokens_.size() && tokens_[i].is(word);
  }

  void look() {
    const Token& t = tokens_[at_];
    if (t.kind == Token::Kind::sign && t.text == ".") return look_at_member();
    if (t.kind != Token::Kind::word) return;
    if (t.text == "throw") return look_at_throw();
    if (t.text == "return" || t.text == "co_return") return look_at_return();
    if (t.text == "print" && word_at(at_ + 1, "(") && word_at(at_ + 2, "stderr"))
      return add(spoken_format(inside(at_ + 1).subspan(2)), "", 2);
    if (telling.contains(t.text) && word_at(at_ + 1, "(")) return look_at_call();
    if (t.text == "push_back" && word_at(at_ + 1, "(")) return add_reason(inside(at_ + 1));
    const bool assigned = word_at(at_ + 1, "=") || word_at(at_ + 1, "{") ||
                          (word_at(at_ + 1, "+") && word_at(at_ + 2, "="));
    if (kept_reasons.contains(t.text) && assigned && !(at_ > 0 && tokens_[at_ - 1].is(".")))
      return look_at_assignment();
  }

  /// Returns whether this position only passes a text on, inside a helper.
  bool in_helper() const {
    return std::ranges::any_of(helpers_, [&](const auto& helper) {
      return helper.second.begin <= at_ && at_ < helper.second.end;
    });
  }

  void look_at_throw() {
    std::size_t i = at_ + 1;
    while (i < tokens_.size() && (tokens_[i].kind == Token::Kind::word || tokens_[i].is("::"))) ++i;
    if (!word_at(i, "(") && !word_at(i, "{")) return;
    const std::string& type = tokens_[i - 1].text;
    if (type == "logic_error" || type == "FleetError" || in_helper()) return;
    add(parts_together(inside(i)), "", 2);
  }

  void look_at_call() {
    const bool defined = at_ > 0 && (tokens_[at_ - 1].is("void") || tokens_[at_ - 1].is("string"));
    if (defined || in_helper()) return;
    const std::string& name = tokens_[at_].text;
    if (file_.path.starts_with("peer/show/page/") && name != "refuse") return;
    const Tokens arguments = inside(at_ + 1);
    // The texts of `deploy` other than notes are next steps, not complaints.
    const bool next = file_.path.starts_with("peer/cli/run/deploy_") && name == "say";
    if (next && !is_note(parts_together(arguments))) return;
    if (name == "error") return add_fleet_problem(arguments);
    const auto helper = helpers_.find(name);
    if (helper == helpers_.end()) return add(parts_together(arguments), "", 2);
    std::map<std::string, std::string> values;
    const std::vector<Tokens> parts = split(arguments, ",");
    bool says = false;
    for (std::size_t i = 0; i < parts.size() && i < helper->second.parameters.size(); ++i) {
      const std::string value = spoken(parts[i], texts_);
      says = says || count_words(value) > 0;
      values[helper->second.parameters[i]] = value;
    }
    if (says) add(filled(helper->second.text, values), "", 2);
  }

  /// Adds error(value, "what is wrong", "what to do"); a place before these is two arguments.
  void add_fleet_problem(Tokens arguments) {
    std::vector<std::string> texts;
    for (const Tokens part : split(arguments, ","))
      if (const std::string text = spoken(part, texts_); count_words(text) > 0)
        texts.push_back(text);
    if (texts.empty()) return;
    add(texts[0], texts.size() > 1 ? texts[1] : "", 1);
  }

  std::string parts_together(Tokens arguments) const {
    std::string whole;
    for (const Tokens part : split(arguments, ",")) {
      const std::string text = spoken(part, texts_);
      if (count_words(text) == 0) continue;
      whole += (whole.empty() ? "" : ": ") + text;
    }
    return whole;
  }

  /// Returns the text of print(stderr, "...", a, b), which is that of format("...", a, b).
  std::string spoken_format(Tokens arguments) const {
    std::vector<Token> call{{Token::Kind::word, "format", 0}, {Token::Kind::sign, "(", 0}};
    call.insert(call.end(), arguments.begin(), arguments.end());
    call.push_back({Token::Kind::sign, ")", 0});
    return spoken(call, texts_);
  }

  void look_at_return() {
    std::size_t end = at_;
    while (end < tokens_.size() && !tokens_[end].is(";")) {
      const bool opens = tokens_[end].is("(") || tokens_[end].is("{") || tokens_[end].is("[");
      end = opens ? closing(tokens_, end) + 1 : end + 1;
    }
    add_reason(all().subspan(at_ + 1, std::min(end, tokens_.size()) - at_ - 1));
  }

  /// Adds the text that a function returns, or keeps for later. Lambdas and calls that report are
  /// collected separately.
  void add_reason(Tokens expression) {
    if (expression.empty()) return;
    for (std::size_t i = 0; i < expression.size(); ++i) {
      const Token& t = expression[i];
      const bool call = i + 1 < expression.size() && expression[i + 1].is("(");
      if (t.is(";") || (t.is(".") && i > 0 && expression[i - 1].is("{"))) return;
      if (t.kind == Token::Kind::word && call && telling.contains(t.text)) return;
    }
    if (const std::size_t brace = braced(expression); brace < expression.size())
      return add_list(expression.subspan(brace + 1, expression.size() - brace - 2));
    for (const std::string& text : all_spoken(expression, texts_)) add_kept(text);
  }

  /// Adds {place, "what is wrong"} if at least one element is a sentence.
  void add_list(Tokens parts) {
    const auto sentence = [&](Tokens part) { return count_words(spoken(part, texts_)) >= 3; };
    if (std::ranges::any_of(split(parts, ","), sentence)) add_kept(parts_together(parts));
  }

  void add_kept(const std::string& text) {
    if (!of_screens(file_.path) || is_note(text)) add(text, "", 3);
  }

  /// Returns the position where `{a, b}` or `Type{a, b}` opens; the size for anything else.
  static std::size_t braced(Tokens expression) {
    std::size_t i = 0;
    while (i < expression.size() && expression[i].kind == Token::Kind::word) ++i;
    const bool whole = i < expression.size() && expression[i].is("{") &&
                       closing(expression, i) + 1 == expression.size();
    return whole ? i : expression.size();
  }

  void look_at_assignment() {
    const std::size_t begin = at_ + (word_at(at_ + 1, "+") ? 3 : 2);
    std::size_t end = begin;
    while (end < tokens_.size() && !tokens_[end].is(";") && !tokens_[end].is(")")) {
      const bool opens = tokens_[end].is("(") || tokens_[end].is("{") || tokens_[end].is("[");
      end = opens ? closing(tokens_, end) + 1 : end + 1;
    }
    add_reason(all().subspan(begin, std::min(end, tokens_.size()) - begin));
  }

  /// Adds `.message = "...", ... .help = "..."` of a diagnostic, `.problem = "..."` of a state.
  void look_at_member() {
    if (!word_at(at_ + 2, "=") || at_ == 0) return;
    if (!tokens_[at_ - 1].is("{") && !tokens_[at_ - 1].is(",")) return;
    const std::string& name = tokens_[at_ + 1].text;
    if (name != "message" && name != "problem" && name != "why") return;
    std::string text, help;
    for (const Tokens& part : split(rest_of_braces(), ",")) {
      if (part.size() < 4 || !part[0].is(".") || !part[2].is("=")) continue;
      if (part[1].text == name) text = spoken(part.subspan(3), texts_);
      if (part[1].text == "help") help = spoken(part.subspan(3), texts_);
    }
    if (!in_helper()) add(text, count_words(help) > 0 ? help : "", 1);
  }

  Tokens rest_of_braces() const {
    std::size_t end = at_;
    while (end < tokens_.size() && !tokens_[end].is("}"))
      end = tokens_[end].is("(") || tokens_[end].is("{") ? closing(tokens_, end) + 1 : end + 1;
    return all().subspan(at_, std::min(end, tokens_.size()) - at_);
  }

  void find_helpers() {
    std::map<std::string, Helper> helpers;
    std::set<std::string> twice;
    for (at_ = 1; at_ + 2 < tokens_.size(); ++at_) {
      if (tokens_[at_].kind != Token::Kind::word || !telling.contains(tokens_[at_].text)) continue;
      const std::size_t open = parameters_at(at_);
      if (open == 0) continue;
      std::size_t body = closing(tokens_, open) + 1;
      while (word_at(body, "const")) ++body;
      if (!word_at(body, "{")) continue;
      Helper helper{{}, "", body, closing(tokens_, body)};
      for (const Tokens part : split(inside(open), ","))
        if (!part.empty()) helper.parameters.push_back(part.back().text);
      helper.text = told_in(helper);
      const std::string& name = tokens_[at_].text;
      if (count_words(helper.text) == 0 && helper.text.empty()) continue;
      if (!helpers.emplace(name, helper).second) twice.insert(name);
    }
    for (const std::string& name : twice) helpers.erase(name);
    helpers_ = std::move(helpers);
  }

  /// Returns the position of the parameters of `void refuse(` or `refuse = [..](`; 0 if there is no
  /// definition.
  std::size_t parameters_at(std::size_t name) const {
    if (tokens_[name - 1].is("void") && word_at(name + 1, "(")) return name + 1;
    if (!word_at(name + 1, "=") || !word_at(name + 2, "[")) return 0;
    const std::size_t after = closing(tokens_, name + 2) + 1;
    return word_at(after, "(") ? after : 0;
  }

  /// Returns the text that the body throws, or passes to another helper.
  std::string told_in(const Helper& helper) const {
    for (std::size_t i = helper.begin; i < helper.end; ++i) {
      const bool thrown = tokens_[i].is("throw");
      if (!thrown && !(tokens_[i].is("refuse_file") && word_at(i + 1, "("))) continue;
      std::size_t open = i + 1;
      while (open < helper.end && !tokens_[open].is("(") && !tokens_[open].is("{")) ++open;
      std::string whole;
      for (const Tokens part : split(inside(open), ",")) {
        // A path or a place, and the text after it, are two arguments.
        whole += spoken(part, texts_);
      }
      if (tokens_[open - 1].is("FleetError")) return fleet_error(open);
      return whole;
    }
    return "";
  }

  std::string fleet_error(std::size_t open) const {
    const Tokens arguments = inside(open);
    for (std::size_t i = 0; i + 3 < arguments.size(); ++i) {
      if (!arguments[i].is(".") || !arguments[i + 1].is("message")) continue;
      return spoken(split(arguments.subspan(i + 3), ",").front(), texts_);
    }
    return "";
  }

  /// Adds only sentences: text with at least `least` words.
  void add(std::string text, std::string help, int least) {
    text = in_one_line(text);
    if (const std::size_t at = text.find(" help: "); at != std::string::npos) {
      help = text.substr(at + 7);
      text.resize(at);
    }
    const bool fragment = text.starts_with(",") || text.starts_with(";");
    if (count_words(text) < least || fragment) return;
    found_.push_back({file_.path, tokens_[at_].line, std::move(text), in_one_line(help)});
  }

  const File& file_;
  std::vector<Token> tokens_;
  NamedTexts texts_;
  std::map<std::string, Helper> helpers_;
  std::vector<Message> found_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Message> messages_in(const File& file) {
  return Collector(file).collect();
}

}  // namespace gv::tidy

#include "tests/tidy/comments.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <regex>
#include <set>

namespace gv::tidy {
namespace {

const std::set<std::string> clause_words = {
    "After",  "Against", "Along",   "Also", "And",      "As",     "At",      "Because", "Before",
    "Behind", "Beside",  "Between", "But",  "By",       "Else",   "For",     "From",    "How",
    "If",     "In",      "Into",    "Like", "Of",       "On",     "Once",    "Or",      "Out",
    "Over",   "Same",    "So",      "Than", "That",     "Those",  "Through", "To",      "Under",
    "Unless", "Until",   "Up",      "What", "Whatever", "When",   "Where",   "Whether", "Which",
    "While",  "Who",     "Whoever", "Why",  "With",     "Without"};

/// Returns the text of a line of a block, without its slashes; nothing for any other line. A
/// comment after a field on its line (///<) is no block.
std::optional<std::string> doc_text(const std::string& line) {
  static const std::regex doc(R"re(^\s*///(?!<) ?(.*)$)re");
  std::smatch match;
  if (!std::regex_match(line, match, doc)) return std::nullopt;
  return match[1].str();
}

using Block = std::function<void(std::size_t line, const std::string& text)>;

void for_each_block(const File& file, const Block& found) {
  std::string text;
  std::size_t first = 0;
  for (std::size_t k = 0; k <= file.lines.size(); ++k) {
    const auto line = k < file.lines.size() ? doc_text(file.lines[k]) : std::nullopt;
    if (line && text.empty()) first = k + 1;
    if (line) text += *line + " ";
    if (line || text.empty()) continue;
    found(first, text);
    text.clear();
  }
}

bool is_fragment(const std::string& text) {
  static const std::regex end(R"re([.;:]\s)re");
  std::smatch match;
  const std::string first = std::regex_search(text, match, end) ? match.prefix().str() : text;
  const bool clause =
      clause_words.contains(first.substr(0, first.find(' '))) || first.starts_with("The same ");
  return clause && first.find(',') == std::string::npos;
}

}  // namespace

std::size_t doc_comments(const std::vector<File>& tree) {
  std::size_t count = 0;
  for (const File& file : tree)
    for_each_block(file, [&](std::size_t, const std::string&) { ++count; });
  return count;
}

Findings fragments(const File& file) {
  Findings findings;
  for_each_block(file, [&](std::size_t line, const std::string& text) {
    if (is_fragment(text)) findings.push_back(file.path + ":" + std::to_string(line) + ": " + text);
  });
  return findings;
}

}  // namespace gv::tidy

#include "peer/launch/deploy/yaml_text.h"

#include <algorithm>

#include "graph/formats/json_value.h"
#include "optim/printable.h"

namespace gv {
namespace {

/// Calls f(line) for each, without its end.
template <class F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string yaml_word(std::string_view text) {
  return json_quoted(text);
}

std::string yaml_list(const std::vector<std::string>& words) {
  std::string list = "[";
  for (const std::string& word : words) list += (list.size() > 1 ? ", " : "") + yaml_word(word);
  return list + "]";
}

bool fits_yaml_block(std::string_view text) {
  bool fits = true;
  each_line(text, [&](std::string_view line) { fits = fits && is_printable(line); });
  return fits;
}

std::string yaml_block(std::string_view text, std::size_t indent) {
  if (text.empty()) return "\"\"";
  // The indentation is said, since the text's own first line may begin with spaces.
  const std::string head = text.ends_with('\n') ? "|2+\n" : "|2-\n";
  std::string block = head + indented(text, indent + 2);
  if (block.ends_with('\n')) block.pop_back();
  return block;
}

std::string indented(std::string_view text, std::size_t spaces) {
  std::string out;
  each_line(text, [&](std::string_view line) {
    if (!line.empty()) out.append(spaces, ' ').append(line);
    out += '\n';
  });
  return out;
}

}  // namespace gv

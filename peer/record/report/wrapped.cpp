#include "peer/record/report/wrapped.h"

#include <algorithm>

#include "optim/printable.h"

namespace gv {
namespace {

constexpr std::size_t screen = 80;

}  // namespace

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  std::string line(begin, ' ');
  for (std::size_t at = begin; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    const bool has_word = line.find_first_not_of(' ') != std::string::npos;
    if (has_word && columns_of(line) + 1 + columns_of(word) > screen) {
      out.append(line).append("\n");
      line.assign(indent, ' ').append(word);
    } else {
      line.append(has_word ? " " : "").append(word);
    }
  }
  return out + line;
}

}  // namespace gv

#include "peer/cli/bibtex.h"

#include <algorithm>

#include "generated/papers.h"

namespace gv::cli {
namespace {

/// Returns whether a list of words, separated by spaces, has this one.
bool names(std::string_view kinds, std::string_view kind) {
  for (std::size_t begin = 0; begin <= kinds.size();) {
    const std::size_t end = std::min(kinds.find(' ', begin), kinds.size());
    if (kinds.substr(begin, end - begin) == kind) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::vector<std::string> bibtex_of(std::string_view kind) {
  constexpr std::string_view head = "\n% of: ";
  std::vector<std::string> entries;
  for (std::size_t at = papers_bib.find(head); at != std::string_view::npos;) {
    const std::size_t next = papers_bib.find(head, at + 1), line = papers_bib.find('\n', at + 1);
    const std::string_view kinds = papers_bib.substr(at + head.size(), line - at - head.size());
    if (names(kinds, kind)) entries.emplace_back(papers_bib.substr(line + 1, next - line - 1));
    at = next;
  }
  return entries;
}

}  // namespace gv::cli

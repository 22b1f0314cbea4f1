#include "tests/peer/cli/documents.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>

#include "tests/places.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view fence = "```";

void add_folder(const std::string& folder, std::vector<std::string>& pages) {
  const fs::path root = source_folder();
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.path().extension() == ".md")
      pages.push_back(fs::relative(entry.path(), root).string());
}

/// Returns NAME of `<!-- file: NAME -->`, or "" for any other line.
std::string named_file(const std::string& line) {
  static const std::regex comment("<!-- file: (\\S+) -->");
  std::smatch match;
  return std::regex_match(line, match, comment) ? match[1].str() : "";
}

/// GitHub keeps letters, digits, `_` and `-`, and turns each space into a hyphen; mkdocs joins
/// repeated hyphens. Returns "" if the two differ, so that no link uses such a heading.
std::string slug(const std::string& heading) {
  std::string made;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-') made += static_cast<char>(std::tolower(c));
    if (c == ' ') made += '-';
  }
  return made.find("--") == std::string::npos ? made : "";
}

}  // namespace

std::string text_of_page(const std::string& path) {
  std::ifstream in(source_folder() + "/" + path);
  if (!in) throw std::runtime_error("no such page: " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

Page read_page(const std::string& path) {
  Page page{.path = path, .blocks = {}, .prose = {}};
  std::ifstream in(source_folder() + "/" + path);
  if (!in) throw std::runtime_error("no such page: " + path);
  bool open = false;
  std::string file;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(fence)) {
      if (!open) page.blocks.push_back({line.substr(fence.size()), file, {}});
      open = !open;
    } else if (open) {
      page.blocks.back().lines.push_back(line);
    } else {
      page.prose.push_back(line);
    }
    file = named_file(line);
  }
  if (open) throw std::runtime_error(path + ": a block is not closed");
  return page;
}

std::vector<std::string> user_pages() {
  std::vector<std::string> pages{"README.md"};
  add_folder("docs", pages);
  std::ranges::sort(pages);
  return pages;
}

std::vector<std::string> all_pages() {
  std::vector<std::string> pages{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"};
  for (const char* folder : {"docs", "experiments", "configs", "gossip"}) add_folder(folder, pages);
  std::ranges::sort(pages);
  return pages;
}

std::vector<std::string> local_links(const Page& page) {
  static const std::regex link("\\]\\(([^)\\s]+)\\)");
  static const std::regex code("`[^`]*`");
  std::vector<std::string> targets;
  for (const std::string& raw : page.prose) {
    const std::string line = std::regex_replace(raw, code, "");
    for (std::sregex_iterator it(line.begin(), line.end(), link), end; it != end; ++it)
      if ((*it)[1].str().find("://") == std::string::npos) targets.push_back((*it)[1].str());
  }
  return targets;
}

std::vector<std::string> anchors_of(const Page& page) {
  std::vector<std::string> anchors;
  for (const std::string& line : page.prose) {
    const std::size_t level = line.find_first_not_of('#');
    if (level == 0 || level == std::string::npos || line[level] != ' ') continue;
    anchors.push_back(slug(line.substr(level + 1)));
  }
  return anchors;
}

}  // namespace gv

#include "tests/tidy/ratchet.h"

#include <map>
#include <regex>
#include <set>

namespace gv::tidy {
namespace {

std::string without_ending(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

bool is_product(const File& file) {
  return !file.path.starts_with("tests/") && !file.path.ends_with(".proto");
}

/// header -> product files that include it, except its own source
std::map<std::string, std::set<std::string>> users_of_headers(const std::vector<File>& tree) {
  static const std::regex include(R"re(^#include "([^"]+\.h)")re");
  std::map<std::string, std::set<std::string>> users;
  for (const File& file : tree) {
    if (!is_product(file)) continue;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      if (without_ending(match[1]) != without_ending(file.path)) users[match[1]].insert(file.path);
    }
  }
  return users;
}

/// Returns whether a file is one of many of a kind, such as a command or a method.
bool is_row(const std::string& path) {
  static const std::regex row(R"(_(command|kind|model|export|figure|family)\.(cpp|h)$)");
  return path.starts_with("gossip/methods/") || std::regex_search(path, row);
}

}  // namespace

ProductSize product_size(const std::vector<File>& tree) {
  ProductSize size;
  const auto users = users_of_headers(tree);
  constexpr std::size_t most_in_folder = 14;
  std::map<std::string, std::size_t> folders;
  for (const File& file : tree) {
    if (!is_product(file)) continue;
    ++size.files;
    size.lines += file.lines.size();
    const std::string folder = file.path.substr(0, file.path.rfind('/'));
    if (!is_row(file.path) && ++folders[folder] > most_in_folder) ++size.crowded;
    const auto used = users.find(file.path);
    if (used != users.end() && used->second.size() == 1) ++size.lone_headers;
  }
  return size;
}

}  // namespace gv::tidy

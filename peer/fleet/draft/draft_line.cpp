#include "peer/fleet/draft/draft_line.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/fleet/json/json.h"

namespace gv {

std::string draft_line(const std::string& yaml, const std::string& comment) {
  if (comment.empty()) return yaml + "\n";
  constexpr std::size_t columns = 80, place = 39;
  const std::string gap(place - std::min(place, columns_of(yaml)), ' ');
  const std::string text = fmt::format("{}{} # {}\n", yaml, gap, comment);
  if (columns_of(text) <= columns + 1) return text;
  const std::string indent(yaml.find_first_not_of(' '), ' ');
  return fmt::format("{}# {}\n{}\n", indent, comment, yaml);
}

std::string draft_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/' || c == '.';
  };
  const bool simple = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
                      std::ranges::all_of(text, plain);
  return simple ? text : Json(text).dump();
}

std::string draft_path(const std::string& path, const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path absolute = fs::absolute(path).lexically_normal();
  const fs::path base = fs::absolute(folder).lexically_normal();
  const std::string inside = absolute.lexically_relative(base).string();
  return inside.empty() || inside.starts_with("..") ? absolute.string() : inside;
}

}  // namespace gv

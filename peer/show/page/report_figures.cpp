#include "peer/show/page/report_figures.h"

#include <cctype>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace gv {
namespace {

/// Letters and digits, and a hyphen for whatever is between them.
void add_words(const std::string& title, std::string& name) {
  bool gap = !name.empty();
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0) {
      gap = !name.empty();
      continue;
    }
    if (gap) name += '-';
    gap = false;
    name += static_cast<char>(std::tolower(byte));
  }
}

/// A picture is one image, or several next to each other. What a legend holds is none.
std::vector<std::string> images_of(const std::string& picture) {
  constexpr std::string_view open = "<svg ", close = "</svg>";
  std::vector<std::string> images;
  for (std::size_t at = 0; (at = picture.find(open, at)) != std::string::npos;) {
    const std::size_t end = picture.find(close, at);
    if (end == std::string::npos) break;
    const std::string image = picture.substr(at, end + close.size() - at);
    if (image.find("class=\"swatch\"") == std::string::npos) images.push_back(image);
    at = end;
  }
  return images;
}

}  // namespace

std::vector<NamedFigure> named_figures(const RunReport& report) {
  std::vector<NamedFigure> figures;
  std::map<std::string, int> seen;
  const auto add = [&](const ReportSection& section, const ReportRow& row, const Figure& figure) {
    if (figure.picture.empty()) return;
    std::string name;
    for (const std::string& title : {section.title, row.name, figure.title}) add_words(title, name);
    for (const std::string& image : images_of(figure.picture)) {
      const int again = ++seen[name];
      figures.push_back({again == 1 ? name : fmt::format("{}-{}", name, again), image});
    }
  };
  for (const ReportSection& section : report.sections)
    for (const ReportRow& row : section.rows) {
      for (const Figure& figure : row.figures) add(section, row, figure);
      for (const Figure& figure : row.folded) add(section, row, figure);
    }
  return figures;
}

}  // namespace gv

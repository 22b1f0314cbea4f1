#pragma once

#include <string>
#include <vector>

namespace gv {

/// The numbers below a figure, as text. Every row has as many cells as there are heads.
struct DataTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
};

/// A table that scrolls by itself where it is wider than the page. Cells are escaped.
std::string table_html(const DataTable& table);

/// A figure of a page: its title, a sentence on how it is read, the picture and, folded, its
/// numbers.
struct Figure {
  std::string title;
  std::string note = {};
  std::string picture = {};  ///< SVG, or several beside each other
  DataTable numbers = {};
  bool wide = false;  ///< takes the whole width; a narrow screen scrolls it
};

std::string figure_html(const Figure& figure);

}  // namespace gv

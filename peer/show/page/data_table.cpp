#include "peer/show/page/data_table.h"

#include <fmt/format.h>

#include "peer/show/page/svg.h"

namespace gv {

std::string table_html(const DataTable& table) {
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::string& head : table.heads) out += "<th>" + svg::escape(head) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += "<td>" + svg::escape(cell) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

std::string figure_html(const Figure& f) {
  std::string out = fmt::format(
      "<figure class=\"{}\"><figcaption>{}", f.wide ? "panel wide" : "panel", svg::escape(f.title));
  if (!f.note.empty()) out += "<small>" + svg::escape(f.note) + "</small>";
  out += "</figcaption>\n<div class=\"picture\">" + f.picture + "</div>\n";
  if (!f.numbers.rows.empty())
    out += "<details><summary>numbers</summary>\n" + table_html(f.numbers) + "</details>\n";
  return out + "</figure>\n";
}

}  // namespace gv

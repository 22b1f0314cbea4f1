#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gv {

/// The numbers below a figure, as text. Every row has as many cells as there are heads.
struct DataTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
};

/// A table that scrolls by itself if it is wider than the page. Cells are escaped.
std::string table_html(const DataTable& table);

/// A figure of a page: its title, a sentence on how to read it, the picture and, folded, its
/// numbers.
struct Figure {
  std::string title;
  std::string note = {};
  std::string picture = {};  ///< one SVG, or several in a row
  DataTable numbers = {};
  bool wide = false;  ///< takes the whole width; a narrow screen scrolls it
};

std::string figure_html(const Figure& figure);

/// A group of runs and the keys of its fleet file, flattened by paths, with their values as
/// written.
struct FleetKeys {
  std::string name;
  std::size_t series = 0;
  std::map<std::string, std::string> keys;
};

/// The keys whose values differ between groups, a column per group ("-" if a group does not set
/// it); below, folded, the common keys. Empty without groups.
std::string fleet_diff(const std::vector<FleetKeys>& groups);

/// Figures in a row, and folded ones for readers that want details.
struct ReportRow {
  std::string name = {};  ///< heading, if a section has several rows
  std::vector<Figure> figures = {};
  std::vector<Figure> folded = {};
};

/// A part of a report: a heading, a sentence on it, and its rows. A figure without a picture is
/// left out, a row without figures too, and a section without rows.
struct ReportSection {
  std::string title;
  std::string note = {};
  std::vector<ReportRow> rows = {};
};

/// A sentence, and remarks on it.
struct Finding {
  std::string text;
  std::vector<std::string> remarks = {};
};

/// A report in the order of the page: sentences first, then pictures, then numbers.
struct RunReport {
  std::string title;
  std::string lead;  ///< one line on the runs
  std::vector<Finding> findings = {};
  std::vector<std::pair<std::string, std::string>> tiles = {};  ///< a value as text, and its name
  /// Names of the groups in the order of their colours; empty if there is one group.
  std::vector<std::pair<std::size_t, std::string>> legend = {};
  std::vector<ReportSection> sections = {};
  std::vector<std::string> missing = {};  ///< figures whose data no run recorded
  std::vector<FleetKeys> keys = {};
  DataTable runs = {};  ///< folder, program version and processor of each run
  std::vector<std::string> notes = {};
};

/// One self-contained page: no script, nothing is loaded. Every text of the report is escaped.
std::string report_page(const RunReport& report);

/// A figure of a report, by a name that is made of its headings: "the-race-accuracy-against-time".
struct NamedFigure {
  std::string name;
  std::string picture;
};

/// All figures with a picture, in the order of the page, with unique names.
std::vector<NamedFigure> named_figures(const RunReport& report);

}  // namespace gv

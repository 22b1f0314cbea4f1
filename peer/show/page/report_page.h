#pragma once

#include <string>
#include <utility>
#include <vector>

#include "peer/show/page/data_table.h"
#include "peer/show/page/fleet_diff.h"

namespace gv {

/// Figures beside each other, and those that only who asks will want to see.
struct ReportRow {
  std::string name = {};  ///< a heading, where a section has several rows
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

/// A sentence, and what else a reader should know about it.
struct Finding {
  std::string text;
  std::vector<std::string> remarks = {};
};

/// A report in the order of the page: sentences first, then pictures, then numbers.
struct RunReport {
  std::string title;
  std::string lead;  ///< what was run, in one line
  std::vector<Finding> findings = {};
  std::vector<std::pair<std::string, std::string>> tiles = {};  ///< a figure, and what it is
  /// Names of the groups in the order of their colours; empty where there is one.
  std::vector<std::pair<std::size_t, std::string>> legend = {};
  std::vector<ReportSection> sections = {};
  std::vector<std::string> missing = {};  ///< figures whose data nobody recorded
  std::vector<FleetKeys> keys = {};
  DataTable runs = {};  ///< how each was made
  std::vector<std::string> notes = {};
};

/// One self-contained page: no script, nothing is loaded. Every text of the report is escaped.
std::string report_page(const RunReport& report);

}  // namespace gv

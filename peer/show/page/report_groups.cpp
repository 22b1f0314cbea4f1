#include "peer/show/page/report_groups.h"

#include <algorithm>
#include <map>

namespace gv {

std::vector<std::string> usual_rows(const RunTable& table) {
  std::vector<std::string> network;
  for (const std::string& column : table.columns)
    if (column == "network" || column.starts_with("network.")) network.push_back(column);
  return network.size() < table.columns.size() ? network : std::vector<std::string>{};
}

std::vector<GroupRow> group_rows(const Comparison& comparison) {
  std::map<std::string, std::size_t> series;
  for (const Section& section : comparison.sections)
    for (const Contender& contender : section.contenders)
      series.emplace(contender.label, series.size());
  std::vector<GroupRow> rows;
  for (const Section& section : comparison.sections) {
    GroupRow row{name_of(section), {}};
    for (const Contender& contender : section.contenders)
      row.groups.push_back({&contender, contender.label, series.at(contender.label)});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace gv

#pragma once

#include <vector>

#include <fmt/format.h>

#include "graph/spec/parameters.h"
#include "peer/fleet/json/json.h"
#include "peer/record/report/console.h"
#include "peer/show/page/graph_page.h"

namespace gv::cli {

/// Returns one object of the JSON document; `more`: with conductance, mixing time and transients.
Json to_json(const GraphRow& row, bool more);

/// Prints the rows as a table on stdout.
void print_table(const std::vector<GraphRow>& rows, double discount, bool more);

/// Returns a graph's name in its column, 22 wide; a longer name gets its own line.
std::string name_cell(const std::string& name);
/// Prints a family of topologies or schedules: one line, and one for each parameter.
template <class Family>
void print_family(const Family& f) {
  const std::string form = form_of(f.parameters);
  const std::string name = form.empty() ? std::string(f.name) : fmt::format("{}:{}", f.name, form);
  const std::string cell = name_cell(name);
  const std::size_t last = cell.find('\n') + 1;  // start of the last line of a long name
  fmt::print("{}{}\n", cell.substr(0, last),
             wrapped(fmt::format("{} {}", cell.substr(last), f.summary), 23));
  for (const GraphParameter& p : f.parameters)
    console::print_wrapped(fmt::format("{:<24} {}", "", help_of(p)), 27);
}

}  // namespace gv::cli

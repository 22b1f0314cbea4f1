#pragma once

#include <vector>

#include <fmt/format.h>

#include "graph/spec/parameters.h"
#include "peer/json/json.h"
#include "peer/page/graph_row.h"

namespace gv::cli {

/// One object of the JSON document; `more`: with conductance, mixing time and transients.
Json to_json(const GraphRow& row, bool more);

/// The same as a table on stdout.
void print_table(const std::vector<GraphRow>& rows, double discount, bool more);

/// A family of topologies or schedules on stdout: a line, and one for each parameter.
template <class Family>
void print_family(const Family& f) {
  fmt::print("{:<22} {:<30} {}\n", f.name, form_of(f.parameters), f.summary);
  for (const GraphParameter& p : f.parameters) fmt::print("{:<22} {}\n", "", help_of(p));
}

}  // namespace gv::cli

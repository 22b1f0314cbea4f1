#pragma once

#include <vector>

#include "peer/json/json.h"
#include "peer/page/graph_row.h"

namespace gv::cli {

/// One object of the JSON document; `more`: with conductance, mixing time and transients.
Json to_json(const GraphRow& row, bool more);

/// The same as a table on stdout.
void print_table(const std::vector<GraphRow>& rows, double discount, bool more);

}  // namespace gv::cli

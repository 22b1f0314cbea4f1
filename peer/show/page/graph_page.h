#pragma once

#include <string>
#include <vector>

#include "peer/show/page/graph_row.h"

namespace gv {

/// `graph report` as one self-contained page: the table, the graphs, their spectra and how fast
/// they average. Style and pictures are inline; no script, nothing is loaded. `discount`: of n_eff.
std::string graph_page(const std::vector<GraphRow>& rows, double discount);

/// Writes a temporary file, then renames it. Throws std::runtime_error with the path.
void write_page(const std::string& path, const std::string& page);

}  // namespace gv

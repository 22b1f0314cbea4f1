#pragma once

#include <string>
#include <vector>

#include "peer/show/page/graph_row.h"

namespace gv {

/// Draws where the eigenvalues of W lie, a row per topology on the common scale -1 .. 1: a bar per
/// value, its height the share of modes there; shaded, what no eigenvalue but the mean's reaches. A
/// directed W has complex eigenvalues: their moduli are drawn. Rows without modes: lambda_2,
/// lambda_n and slem only.
std::string spectrum_figure(const std::vector<GraphRow>& rows);

}  // namespace gv

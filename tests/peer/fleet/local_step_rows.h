#pragma once

#include <vector>

#include "tests/peer/fleet/test_fleet.h"

namespace gv {

/// Those of synchronous_rows() whose peers take several local steps between two exchanges.
inline std::vector<const AlgorithmRow*> rows_with_local_steps() {
  std::vector<const AlgorithmRow*> rows;
  for (const AlgorithmRow* row : synchronous_rows())
    if (row_fleet(*row, 4).local_steps > 1) rows.push_back(row);
  return rows;
}

}  // namespace gv

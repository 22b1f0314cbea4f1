#pragma once

#include <vector>

#include "tests/peer/fleet/test_fleet.h"

namespace gv {

/// Returns the rows of synchronous_rows() that take several local steps between two exchanges.
inline std::vector<const AlgorithmRow*> rows_with_local_steps() {
  std::vector<const AlgorithmRow*> rows;
  for (const AlgorithmRow* row : synchronous_rows())
    if (row_fleet(*row, 4).local_steps > 1) rows.push_back(row);
  return rows;
}

/// Returns whether all peers take equally many steps in a round, in every fleet file.
inline bool takes_equal_steps(const AlgorithmRow& row) {
  return row.kind == "streaming-diloco" || row.kind == "proxskip";
}

/// Returns the rows with local steps whose peers may take different numbers of steps.
inline std::vector<const AlgorithmRow*> rows_with_unequal_steps() {
  std::vector<const AlgorithmRow*> rows = rows_with_local_steps();
  std::erase_if(rows, [](const AlgorithmRow* row) { return takes_equal_steps(*row); });
  return rows;
}

}  // namespace gv

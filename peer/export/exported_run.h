#pragma once

#include <string>
#include <vector>

#include "peer/report/metrics_row.h"

namespace gv {

/// The evaluations of a run folder, for other programs.
struct ExportedRun {
  std::string name;                ///< the folder's last part
  double began = 0;                ///< seconds since 1970, as far as the folder tells
  std::vector<MetricsRow> rows{};  ///< ascending in their rounds
};

/// Throws std::runtime_error with the path where metrics.jsonl is missing or damaged.
ExportedRun read_run(const std::string& folder);

}  // namespace gv

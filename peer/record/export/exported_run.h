#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "peer/record/report/metrics_row.h"

namespace gv {

/// The evaluations of a run folder, for other programs.
struct ExportedRun {
  std::string name;                ///< the folder's last part
  double began = 0;                ///< seconds since 1970, as far as the folder tells
  std::vector<MetricsRow> rows{};  ///< ascending in their rounds
  /// The values of a sweep's trial on each axis, and what it was for ("tune", "run"); else empty.
  std::vector<std::pair<std::string, std::string>> values{};
  std::string stage{};
  std::map<std::string, std::string> keys{};  ///< of its fleet file
};

/// The folders that are meant by `folder`: a sweep's trials, by name, or it alone.
std::vector<std::string> runs_of(const std::string& folder);

/// Throws std::runtime_error with the path where metrics.jsonl is missing or damaged.
ExportedRun read_run(const std::string& folder);

}  // namespace gv

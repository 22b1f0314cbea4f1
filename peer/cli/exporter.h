#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/record/export/exported_run.h"

namespace gv::cli {

// The table of what `export` writes. A row stands in one file, *_export.cpp, and has an option of
// its own.

/// The files that were written, and what else is said of them.
struct Written {
  std::vector<std::string> files{};
  Json said;             ///< for programs, beside the names of files
  std::string screen{};  ///< for people; "": the names and counts are enough
};

struct Exporter {
  std::string option;  ///< "--csv"
  std::string place;   ///< what the help text calls its value: "FILE"
  std::string help;
  bool prints = false;  ///< `-` stands for stdout
  /// Writes the evaluations of all runs; null: see `model`.
  void (*runs)(const std::string& place,
               const std::vector<ExportedRun>& runs,
               Written& to) = nullptr;
  /// Writes the model in `file`, of the one run that is named.
  void (*model)(const std::string& place, const std::string& file, Written& to) = nullptr;
};

/// The table, in the order of the help text.
const std::vector<Exporter>& exporters();

}  // namespace gv::cli

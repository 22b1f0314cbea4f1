#pragma once

#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/record/export/exported_run.h"

namespace gv::cli {

// Formats that `export` writes. Each row has its own file, *_export.cpp, and its own option.

/// Names of the written files, and further output.
struct Written {
  std::vector<std::string> files{};
  Json said;             ///< for --json, besides the file names
  std::string screen{};  ///< for people; "" if names and counts suffice
};

struct Exporter {
  std::string option;  ///< "--csv"
  std::string place;   ///< name of its value in the help text: "FILE"
  std::string help;
  bool prints = false;  ///< `-` means stdout
  /// Writes the evaluations of all runs; null if the row writes a model.
  void (*runs)(const std::string& place,
               const std::vector<ExportedRun>& runs,
               Written& to) = nullptr;
  /// Writes the model in `file`, of the one named run.
  void (*model)(const std::string& place, const std::string& file, Written& to) = nullptr;
};

/// Returns the table, in the order of the help text.
const std::vector<Exporter>& exporters();

}  // namespace gv::cli

#include <fmt/format.h>

#include "peer/cli/results/exporter.h"
#include "peer/cli/written_file.h"
#include "peer/record/export/exported_run.h"

namespace gv::cli {
namespace {

void write_csv(const std::string& place, const std::vector<ExportedRun>& runs, Written& to) {
  const std::string text = csv_of(runs);
  if (place == "-") {
    fmt::print("{}", text);
    return;
  }
  write_file(place, text);
  to.files.push_back(place);
}

}  // namespace

Exporter csv_export() {
  return {.option = "--csv",
          .place = "FILE",
          .help = "File for one table of all runs; - for stdout",
          .prints = true,
          .runs = write_csv};
}

}  // namespace gv::cli

#include "peer/cli/results/exporter.h"
#include "peer/record/export/exported_run.h"

namespace gv::cli {

Exporter tensorboard_export() {
  return {.option = "--tensorboard",
          .place = "DIR",
          .help = "Folder for one event file per run",
          .runs = [](const std::string& place, const std::vector<ExportedRun>& runs, Written& to) {
            for (const ExportedRun& run : runs) to.files.push_back(write_event_file(place, run));
          }};
}

}  // namespace gv::cli

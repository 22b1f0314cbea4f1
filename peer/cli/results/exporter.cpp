#include "peer/cli/results/exporter.h"

namespace gv::cli {

// Each row is in the file of its name: csv_export.cpp and so on.
Exporter csv_export();
Exporter tensorboard_export();
Exporter onnx_export();

const std::vector<Exporter>& exporters() {
  static const std::vector<Exporter> table{csv_export(), tensorboard_export(), onnx_export()};
  return table;
}

}  // namespace gv::cli

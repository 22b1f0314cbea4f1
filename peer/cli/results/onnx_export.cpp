#include <fmt/format.h>

#include "peer/cli/results/exporter.h"
#include "peer/cli/written_file.h"
#include "peer/model/onnx/onnx_model.h"

namespace gv::cli {
namespace {

void write_onnx(const std::string& place, const std::string& file, Written& to) {
  const SavedModel model = load_model(file);
  OnnxAbout about;
  write_file(place, onnx_model(model, about));
  to.files.push_back(place);
  to.said["onnx"] = Json{{"opset", onnx_opset}, {"input", about.input}, {"output", about.output}};
  to.screen +=
      fmt::format("{}\n{}, {} parameters; ONNX, opset {}, float32\n  in   {}\n  out  {}\n", place,
                  model.card.model.kind, model.x.size(), onnx_opset, about.input, about.output);
}

}  // namespace

Exporter onnx_export() {
  return {.option = "--onnx",
          .place = "FILE",
          .help = "File for the run's model for other runtimes (opset 17)",
          .model = write_onnx};
}

}  // namespace gv::cli

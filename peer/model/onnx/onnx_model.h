#pragma once

#include <string>

#include "peer/model/card/saved_model.h"

namespace gv {

/// Versions of operators and file format: ONNX 1.12, which every runtime since 2022 reads.
inline constexpr int onnx_opset = 17;
inline constexpr int onnx_ir_version = 8;

/// The shapes of an exported model's input and output, for people.
struct OnnxAbout {
  std::string input;   ///< "features: float [rows, 4]"
  std::string output;  ///< "probabilities: float [rows, 3]"
};

/// Returns a saved model as an ONNX file (onnx.proto's ModelProto): inputs as in the user's files,
/// their scaling and the replacement of missing values inside the graph, weights in float32. The
/// output is the probability of each class, [rows, classes] (for a text [rows, positions,
/// characters]), or the value of a regression, [rows, 1]. metadata_props has the model's
/// description: classes, columns, fleet, seed. Throws std::runtime_error "path: ..." for a model
/// that lacks its columns because they are too many, or of 2 GB and more.
std::string onnx_model(const SavedModel& model, OnnxAbout& about);

}  // namespace gv

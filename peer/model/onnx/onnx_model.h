#pragma once

#include <string>

#include "peer/model/card/saved_model.h"

namespace gv {

/// The operators that all nodes are of, and the format that holds them: ONNX 1.12, which every
/// runtime since 2022 reads.
inline constexpr int onnx_opset = 17;
inline constexpr int onnx_ir_version = 8;

/// The forms of what goes into an exported model and what comes out, for people.
struct OnnxAbout {
  std::string input;   ///< "features: float [rows, 4]"
  std::string output;  ///< "probabilities: float [rows, 3]"
};

/// A saved model as a file of ONNX (onnx.proto's ModelProto): inputs as the user's files have them,
/// their scaling and what stands for a missing value inside the graph, weights in float32. The
/// output is the probability of each class, [rows, classes] (of a text [rows, positions,
/// characters]), or the value of a regression, [rows, 1]. metadata_props has what the model says of
/// itself: classes, columns, fleet, seed. Throws std::runtime_error "path: ..." for a model whose
/// columns are too many to be kept in it, or of 2 GB and more.
std::string onnx_model(const SavedModel& model, OnnxAbout& about);

}  // namespace gv

#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/models/network_builder.h"
#include "optim/train/predictor.h"
#include "peer/model/onnx/onnx_graph.h"

namespace gv {

/// Appends a network's layers as they answer (a batch norm by its running moments), behind `input`:
/// pictures [rows, channels, height, width], vectors [rows, channels] or, of a network with a
/// vocabulary, tokens [rows, positions]. Returns the logits, [rows, classes] or [rows, positions,
/// classes]. Parameters keep their names.
std::string add_layers(OnnxGraph& graph,
                       const std::string& input,
                       const NeuralNetwork& network,
                       std::span<const float> x,
                       const std::vector<RunningMoment>& moments);

}  // namespace gv

#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/models/objective.h"
#include "peer/model/tensors/tensor_file.h"

namespace gv {

/// Returns the tensors of a file as one flat vector in the order of a model's parameters. Names and
/// shapes must be the model's; a file may have no other tensors except those that PyTorch stores
/// with a batch norm. Throws std::runtime_error "path: tensor NAME: the error, and a remedy".
std::vector<float> flat_values(const std::string& path,
                               const TensorFile& file,
                               const std::vector<Parameter>& parameters);

/// Returns the values of the tensor with the parameter's name and shape. Throws like flat_values.
std::vector<float> tensor_values(const std::string& path,
                                 const TensorFile& file,
                                 const Parameter& parameter);

/// Reads the start values of training, from `model: { start: FILE }`.
std::vector<float> start_values(const std::string& path, const std::vector<Parameter>& parameters);

}  // namespace gv

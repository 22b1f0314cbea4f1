#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/models/objective.h"
#include "peer/model/tensors/tensor_file.h"

namespace gv {

/// The tensors of a file as one flat vector in the order of a model's parameters. Names and shapes
/// must be the model's; the only other tensors that a file may have are what PyTorch keeps beside
/// the parameters of a batch norm. Throws std::runtime_error "path: tensor NAME: what is wrong, and
/// what to do".
std::vector<float> flat_values(const std::string& path,
                               const TensorFile& file,
                               const std::vector<Parameter>& parameters);

/// The tensor of that name and shape. Throws like flat_values.
std::vector<float> tensor_values(const std::string& path,
                                 const TensorFile& file,
                                 const Parameter& parameter);

/// Reads what training begins with, of `model: { start: FILE }`.
std::vector<float> start_values(const std::string& path, const std::vector<Parameter>& parameters);

}  // namespace gv

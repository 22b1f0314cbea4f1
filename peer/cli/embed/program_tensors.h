#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "optim/train/program_replica.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/runtime/program_model.h"

namespace gv::embed {

/// The tensors of a program, checked.
struct ProgramTensors {
  ProgramModel model;              ///< without x_0
  std::vector<std::size_t> sizes;  ///< floats of each
  Segments x;                      ///< where they lie
};

/// Throws Fault (GV_E_TENSORS) with the name of the first tensor that cannot travel, and why.
ProgramTensors read_tensors(std::span<const gv_tensor> tensors);

/// Takes as many tensors of those sizes, elsewhere. Throws Fault (GV_E_TENSORS) likewise; `model`
/// has the names.
Segments segments_at(std::span<void* const> data, const ProgramTensors& like);

/// 32 hex digits of x, as it lies.
std::string digest_of(const ProgramTensors& tensors);
/// x, as it lies, and the reverse.
std::vector<float> values_of(const ProgramTensors& tensors);
void load_as_it_lies(std::span<const float> values, const ProgramTensors& tensors);

/// x <- values, which are in the order of the shapes; the tensors may lie in another one.
void load_values(std::span<const float> values, const ProgramTensors& tensors);

}  // namespace gv::embed

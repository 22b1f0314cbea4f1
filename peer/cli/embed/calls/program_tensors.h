#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "optim/replica/program_replica.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/runtime/assembly/program_model.h"

namespace gv::embed {

/// Checked tensors of a program.
struct ProgramTensors {
  ProgramModel model;              ///< without x_0
  std::vector<std::size_t> sizes;  ///< number of floats of each
  Segments x;                      ///< their memory
};

/// Throws Fault (GV_E_TENSORS) with the name of the first unsupported tensor, and the reason.
ProgramTensors read_tensors(std::span<const gv_tensor> tensors);

/// Checks the tensors at other places in memory, by `like`. Throws Fault (GV_E_TENSORS) likewise.
Segments segments_at(std::span<void* const> data, const ProgramTensors& like);

/// Returns 32 hex digits of x in memory order.
std::string digest_of(const ProgramTensors& tensors);
/// Return x in memory order, and the reverse.
std::vector<float> values_of(const ProgramTensors& tensors);
void load_as_it_lies(std::span<const float> values, const ProgramTensors& tensors);

/// Sets x to values in the order of the shapes, which may differ from the memory order.
void load_values(std::span<const float> values, const ProgramTensors& tensors);

}  // namespace gv::embed

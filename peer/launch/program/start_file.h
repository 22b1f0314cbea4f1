#pragma once

#include <span>
#include <string>
#include <vector>

#include "peer/launch/program/program_words.h"
#include "peer/runtime/assembly/program_model.h"

namespace gv {

// The model of a fleet of programs, as the scout introduced it, for the launcher, the programs
// (gv_open's `start`) and the peers that serve its parts.

/// Returns the model of an introduction, with x_0 as sent: each tensor in the order of its memory.
ProgramModel model_of(const asked::Introduction& says, std::vector<float> x);

/// Writes a .safetensors file with names, shapes and x_0, in the order of the shapes. Throws
/// std::runtime_error with the path.
void write_start(const std::string& path,
                 const asked::Introduction& says,
                 std::span<const float> x);

/// Returns the model's tensors from any file that has them, each in the order of its memory. Throws
/// std::runtime_error "path: what is wrong".
std::vector<float> read_values(const std::string& path, const ProgramModel& model);

/// Returns the model of such a file. Throws std::runtime_error "path: what is wrong".
ProgramModel read_start(const std::string& path);

}  // namespace gv

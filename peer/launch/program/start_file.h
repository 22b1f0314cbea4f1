#pragma once

#include <span>
#include <string>
#include <vector>

#include "peer/launch/program/program_words.h"
#include "peer/runtime/program_model.h"

namespace gv {

// The model of a fleet of programs between its processes: what the scout has said of it, as the
// launcher, the programs (gv_open's `start`) and those that serve parts of it know it.

/// Returns what an introduction says, with x_0 as it was handed over: each tensor in the order of
/// its memory.
ProgramModel model_of(const asked::Introduction& says, std::vector<float> x);

/// A .safetensors file with names, shapes and x_0, in the order of the shapes. Throws
/// std::runtime_error with the path.
void write_start(const std::string& path,
                 const asked::Introduction& says,
                 std::span<const float> x);

/// The tensors of the model in any file that has them, each in the order of its memory. Throws
/// std::runtime_error "path: what is wrong".
std::vector<float> read_values(const std::string& path, const ProgramModel& model);

/// The model that such a file is about. Throws std::runtime_error "path: what is wrong".
ProgramModel read_start(const std::string& path);

}  // namespace gv

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "peer/runtime/assembly.h"

namespace gv::cli {

// What is odd about a fleet without being wrong: a line or two of `plan`, or nothing.

/// A minibatch that is larger than its part repeats samples.
std::string crowded_note(const Assembly& fleet);
/// A torus or a grid whose shape is left open is a line where the number of peers is prime.
std::string thin_note(const Assembly& fleet);
/// Says what unequal batches would bring where the others wait for the slowest machine.
std::string unequal_note(const Assembly& fleet);
/// Says that it matters who stands where, if links differ.
std::string placement_note(const Assembly& fleet);
/// A network without latency and bandwidth takes no time, which no real one does.
std::string network_note(const Assembly& fleet);
/// Each peer holds x and its gradient at least; `free`: bytes on this machine, where it is known.
std::string memory_note(const Assembly& fleet, std::optional<std::uint64_t> free);

}  // namespace gv::cli

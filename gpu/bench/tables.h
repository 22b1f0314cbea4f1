#pragma once

// The tables of the benchmark, printed in Markdown.

namespace gv::gpu {

/// Compares the fused mixing and step with a copy in the device's memory.
void put_kernels();

/// Compares the level-1 operations and the codecs with such a copy.
void put_level1_and_codecs();

/// Compares transfers in and out of the replica with plain copies over the bus.
void put_ways_in_and_out();

/// Compares training, in samples per second, with its floor. Returns false if a row failed.
bool put_training();

}  // namespace gv::gpu

#pragma once

// The tables of the benchmark, printed in Markdown.

namespace gv::gpu {

/// The fused mixing and step beside a copy in the device's memory.
void put_kernels();

/// The level-1 operations and the codecs beside such a copy.
void put_level1_and_codecs();

/// The ways in and out of the replica beside plain copies over the bus.
void put_ways_in_and_out();

/// Training in samples per second, and beside its floor. False if a row failed.
bool put_training();

}  // namespace gv::gpu

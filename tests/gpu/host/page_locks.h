#pragma once

#include <cstddef>

namespace gv::host_cuda {

/// Returns the bytes from p to the end of the page-locked range that holds it; 0 if there is none.
std::size_t room_in_page_locked(const void* p);
/// Returns whether the range that holds p was page-locked for a device that only reads it.
bool locked_to_be_read(const void* p);
/// Returns whether p lies in memory that was allocated by cudaMalloc or cudaHostAlloc.
bool is_allocation(const void* p);

}  // namespace gv::host_cuda

#pragma once

#include <cstddef>
#include <span>

#include <cuda_runtime_api.h>

namespace gv::gpu {

/// Locks pages of the host for copies of every device. Untouched ones are placed on the NUMA node
/// next to the calling thread's device. `only_read`: maps them as read-only.
cudaError_t lock_pages(std::span<const std::byte> pages, bool only_read);
void unlock_pages(const std::byte* pages) noexcept;

}  // namespace gv::gpu

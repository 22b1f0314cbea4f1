#pragma once

#include <cstddef>
#include <span>

#include <cuda_runtime_api.h>

namespace gv::gpu {

/// Locks pages of the host for copies of every device, next to the calling thread's where nobody
/// has touched them yet. `only_read`: they are mapped so, and nothing is copied to them.
cudaError_t lock_pages(std::span<const std::byte> pages, bool only_read);
void unlock_pages(const std::byte* pages) noexcept;

}  // namespace gv::gpu

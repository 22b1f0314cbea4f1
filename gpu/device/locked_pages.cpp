#include "gpu/device/locked_pages.h"

#include "gpu/device/near_memory.h"

namespace gv::gpu {

/// Without cudaHostRegisterReadOnly, the driver refuses pages that this process may not write.
cudaError_t lock_pages(std::span<const std::byte> pages, bool only_read) {
  const NearMemory near(own_node());
  auto* const begin = const_cast<std::byte*>(pages.data());
  const unsigned flags = cudaHostRegisterPortable | (only_read ? cudaHostRegisterReadOnly : 0U);
  const cudaError_t status = cudaHostRegister(begin, pages.size(), flags);
  if (status != cudaSuccess) cudaGetLastError();
  return status;
}

// Ignores errors, because the CUDA runtime may be gone at the end of the process.
void unlock_pages(const std::byte* pages) noexcept {
  if (cudaHostUnregister(const_cast<std::byte*>(pages)) != cudaSuccess) cudaGetLastError();
}

}  // namespace gv::gpu

#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace gv {

/// Leaves new bytes as they are: who makes room for 16 KiB of a record writes all of them, and
/// zeros before would take 5 % as long as the cipher.
template <class T>
struct UnsetAllocator : std::allocator<T> {
  template <class Other>
  struct rebind {
    using other = UnsetAllocator<Other>;
  };
  template <class Value>
  void construct(Value* at) noexcept {
    ::new (static_cast<void*>(at)) Value;
  }
  template <class Value, class... Arguments>
  void construct(Value* at, Arguments&&... arguments) {
    std::construct_at(at, std::forward<Arguments>(arguments)...);
  }
};

/// Records on their way to a socket.
using SealedBytes = std::vector<std::byte, UnsetAllocator<std::byte>>;

}  // namespace gv

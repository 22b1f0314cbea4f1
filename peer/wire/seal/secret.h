#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace gv {

/// Overwrites bytes so that no compiler leaves it out.
void wipe(void* bytes, std::size_t count);
/// Overwrites what a text holds, which is empty then.
void wipe(std::string& text);

/// Memory that is overwritten before it is given back.
template <class T>
struct WipingAllocator {
  using value_type = T;
  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {
  }  // NOLINT(google-explicit-constructor): as the standard has it
  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* at, std::size_t count) {
    wipe(at, count * sizeof(T));
    std::allocator<T>().deallocate(at, count);
  }
  bool operator==(const WipingAllocator&) const { return true; }
};

/// A private key, of which nothing is left in memory when it has gone. Longer than what a string
/// keeps within itself, as every key in PEM is.
using Secret = std::basic_string<char, std::char_traits<char>, WipingAllocator<char>>;

/// No core dump of this process, and no other process of this user may read its memory: for those
/// that hold private keys. See prctl(2), PR_SET_DUMPABLE.
void keep_memory_to_ourselves();

}  // namespace gv

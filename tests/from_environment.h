#pragma once

#include <cstdint>
#include <cstdlib>

namespace gv {

/// Returns the number in the environment variable `name`, or `usual` if it is not set.
inline std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

}  // namespace gv

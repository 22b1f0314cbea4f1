#pragma once

#include <cstdint>
#include <cstdlib>

namespace gv {

/// A number that the environment says, such as of fleets to draw; else the usual one.
inline std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

}  // namespace gv

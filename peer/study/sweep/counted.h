#pragma once

#include <cstddef>
#include <string>

namespace gv {

/// "1 cell", "3 cells"; `many` where an s is not enough.
inline std::string counted(std::size_t number,
                           const std::string& one,
                           const std::string& many = "") {
  return std::to_string(number) + " " + (number == 1 ? one : many.empty() ? one + "s" : many);
}

}  // namespace gv

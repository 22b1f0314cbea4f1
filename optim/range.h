#pragma once

#include <cstddef>

namespace gv {

/// A piece [begin, begin + count) of a vector.
struct Range {
  std::size_t begin = 0;
  std::size_t count = 0;

  bool operator==(const Range&) const = default;
};

}  // namespace gv

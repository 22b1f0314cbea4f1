#pragma once

#include <cstddef>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// Size of the product, which is graph/, optim/, gossip/, gpu/ and peer/.
struct ProductSize {
  std::size_t files = 0;         ///< number of .h, .cpp, .cu and .cuh files
  std::size_t lines = 0;         ///< number of lines
  std::size_t lone_headers = 0;  ///< number of headers with one user besides their own source
  std::size_t crowded = 0;       ///< number of files beyond 14 of their folder, without rows
};

ProductSize product_size(const std::vector<File>& tree);

}  // namespace gv::tidy

#pragma once

#include <cstddef>
#include <vector>

#include "tests/tidy/rules.h"

namespace gv::tidy {

/// The size of the product, which is graph/, optim/, gossip/, gpu/ and peer/.
struct ProductSize {
  std::size_t files = 0;  ///< .h, .cpp, .cu and .cuh
  std::size_t lines = 0;  ///< of these files
  std::size_t lone_headers =
      0;  ///< headers that one file uses, beside the source of their own name
};

ProductSize product_size(const std::vector<File>& tree);

}  // namespace gv::tidy

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "optim/check.h"
#include "peer/model/tensors/tensor_file.h"

namespace gv::fuzz {

/// Checks that every tensor of a file has as many finite values as its shape demands.
inline void read_tensors(const TensorFile& file) {
  for (std::size_t k = 0; k < file.tensors().size(); ++k) {
    const TensorShape& tensor = file.tensors()[k];
    const bool empty = std::ranges::count(tensor.shape, std::uint64_t{0}) > 0;
    for (const std::uint64_t extent : tensor.shape)
      GV_CHECK(empty ? tensor.count() == 0 : extent <= tensor.count(),
               "the product of the extents has not gone over");
    const std::vector<float> values = file.read(k);
    GV_CHECK_EQUAL(values.size(), tensor.count(), "values of its shape");
    GV_CHECK(std::ranges::all_of(values, [](float v) { return std::isfinite(v); }),
             "a tensor is finite");
  }
}

}  // namespace gv::fuzz

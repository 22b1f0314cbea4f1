#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "optim/check.h"
#include "peer/tensors/tensor_file.h"

namespace gv::fuzz {

/// Every tensor of a file: as many finite values as its shape says.
inline void read_tensors(const TensorFile& file) {
  for (std::size_t k = 0; k < file.tensors().size(); ++k) {
    const std::vector<float> values = file.read(k);
    GV_CHECK_EQUAL(values.size(), file.tensors()[k].count(), "values of its shape");
    GV_CHECK(std::ranges::all_of(values, [](float v) { return std::isfinite(v); }),
             "a tensor is finite");
  }
}

}  // namespace gv::fuzz

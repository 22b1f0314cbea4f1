#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "optim/data/sparse.h"

namespace gv {

/// The contents of one file in LIBSVM's format, with the labels as they stand there.
struct LibSvmFile {
  SparseSamples rows;
  std::vector<float> labels;
  std::vector<std::uint64_t> lines;  ///< of each sample, from 1
  std::uint32_t features = 0;        ///< the largest column
};

/// The first `most` samples. Throws std::runtime_error "path:line: what is wrong".
LibSvmFile read_libsvm_file(const std::string& path,
                            std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

}  // namespace gv

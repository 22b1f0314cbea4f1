#pragma once

#include <algorithm>
#include <cmath>

#include "optim/check.h"
#include "optim/data/dataset.h"

namespace gv::fuzz {

/// Checks the promises of every reader of data, whatever was in the file.
inline void check(const Dataset& data) {
  const std::size_t cells = std::size_t{data.rows} * data.features;
  if (data.is_sparse()) {
    GV_CHECK_EQUAL(data.sparse.ends.size(), data.rows, "an end for each row");
    GV_CHECK_EQUAL(data.sparse.columns.size(), data.sparse.values.size(), "a value for a column");
    GV_CHECK(std::ranges::all_of(data.sparse.columns,
                                 [&](std::uint32_t c) { return c < data.features; }),
             "columns within the features");
  } else if (!data.is_text()) {
    GV_CHECK_EQUAL(data.bytes.size() + data.floats.size(), cells, "rows x features");
  }
  if (data.classes > 0 && !data.is_text()) {
    GV_CHECK_EQUAL(data.labels.size(), data.rows, "a label for each row");
    GV_CHECK(std::ranges::all_of(data.labels, [&](std::uint8_t l) { return l < data.classes; }),
             "labels within the classes");
  }
  GV_CHECK(std::ranges::all_of(data.floats, [](float v) { return std::isfinite(v); }),
           "features are finite");
}

inline void check(const TrainTest& sets) {
  check(*sets.train);
  if (sets.test) check(*sets.test);
}

}  // namespace gv::fuzz

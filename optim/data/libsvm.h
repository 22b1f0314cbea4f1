#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optim/data/sparse.h"

namespace gv {

/// The contents of one file in LIBSVM's format.
struct LibSvmFile {
  std::vector<std::uint64_t> ends;     ///< row r ends before place ends[r], where row r + 1 begins
  std::vector<std::uint32_t> columns;  ///< ascending in each row, counted from 0
  std::vector<double> values;          ///< none is zero as a float
  std::vector<std::uint64_t> lines;    ///< line of each sample, from 1
  std::uint32_t features = 0;          ///< one more than the largest column
  std::uint32_t first_column = 1;      ///< the number that the file gives to column 0

  std::size_t rows() const { return ends.size(); }
  std::uint64_t begin(std::size_t row) const { return row == 0 ? 0 : ends[row - 1]; }
  /// Returns the label of a row with all its digits, as plain_number (field.h) writes it.
  std::string_view label(std::size_t row) const {
    const std::size_t from = row == 0 ? 0 : label_ends[row - 1];
    return std::string_view(label_text).substr(from, label_ends[row] - from);
  }

  std::string label_text;               ///< the labels one after the other
  std::vector<std::size_t> label_ends;  ///< the end of each
};

/// Columns count from `first_column`, 0 or 1. If it is empty they count from 0 if the file has a
/// column 0, as scikit-learn writes, else from 1. Throws std::runtime_error "path:line: what is
/// wrong".
LibSvmFile read_libsvm_file(const std::string& path,
                            std::optional<std::uint32_t> first_column = std::nullopt);

/// Appends a row as floats.
void add_sparse_row(const LibSvmFile& file, std::size_t row, SparseSamples& to);

}  // namespace gv

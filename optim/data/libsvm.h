#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optim/rng.h"

namespace gv {

struct TrainTest;

/// The nonzero features of one sample, by ascending column.
struct SparseSample {
  std::span<const std::uint32_t> columns;
  std::span<const float> values;
};

/// Samples with few nonzero features, concatenated (compressed rows).
struct SparseSamples {
  std::vector<std::uint64_t> ends;  ///< row r ends before place ends[r], where row r + 1 begins
  std::vector<std::uint32_t> columns;
  std::vector<float> values;

  SparseSample row(std::uint32_t r) const {
    const std::size_t begin = r == 0 ? 0 : ends[r - 1];
    return {std::span(columns).subspan(begin, ends[r] - begin),
            std::span(values).subspan(begin, ends[r] - begin)};
  }
};

/// Two classes of sparse samples, each with `nonzeros` nonzero features with values N(0, 1 /
/// nonzeros). Low columns are more popular (column floor(features u^2), u uniform; all are equal if
/// more than half are nonzero). A sample's class is its side of a drawn plane; a part `noise` of
/// all labels is flipped. Throws std::invalid_argument unless 1 <= nonzeros <= features.
TrainTest draw_sparse(std::uint32_t train,
                      std::uint32_t test,
                      std::uint32_t features,
                      std::uint32_t nonzeros,
                      double noise,
                      Rng rng);

/// Reads a text file in LIBSVM's format, one sample a line: "label column:value column:value ...",
/// columns from 1 on (from 0 if the training file has a column 0) and ascending; text after a # is
/// a comment. Chang & Lin, "LIBSVM: a library for support vector machines", 2011. There are two
/// classes: the smaller label is class 0. `test` is a file of the same classes; if empty, the last
/// tenth of `train`, at least one sample, is held out. Throws std::runtime_error "path:line: the
/// error, and a remedy".
TrainTest read_libsvm(const std::string& train, const std::string& test);

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

/// Columns count from `first_column`, 0 or 1. If it is empty, they count from 0 if the file has a
/// column 0, as scikit-learn writes, else from 1. Throws std::runtime_error "path:line: the error".
LibSvmFile read_libsvm_file(const std::string& path,
                            std::optional<std::uint32_t> first_column = std::nullopt);

/// Appends a row as floats.
void add_sparse_row(const LibSvmFile& file, std::size_t row, SparseSamples& to);

}  // namespace gv

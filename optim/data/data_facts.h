#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optim/data/dataset.h"

namespace gv {

/// A column that a model sees, before it is scaled.
struct ColumnFacts {
  std::string name;
  /// The values of a category in sorted order, each of which becomes a feature of 0 or 1. Empty: a
  /// column of numbers, one feature.
  std::vector<std::string> levels{};
  /// The part of a category's training samples with each value, among those that have one.
  std::vector<double> shares{};
  double mean = 0;  ///< of numbers: over the training samples where it is not missing
  double deviation = 1;
  std::uint64_t missing = 0;  ///< samples without a value, of both sets
  bool date = false;          ///< numbers that are days since 1970-01-01, written as dates

  bool is_category() const { return !levels.empty(); }
  /// A number as a model sees it where numbers are standardized; a deviation of 0 counts as 1.
  double scaled(double value) const { return (value - mean) / (deviation > 0 ? deviation : 1); }
};

/// The facts of a data set that came from a user's files, or whose classes have weights.
struct DataFacts {
  std::string format;  ///< CSV, NPY, NPZ, LIBSVM, images
  std::string target;  ///< the column that is to be told; "": the files give it a place of its own
  std::vector<ColumnFacts> columns{};  ///< without the target; none: pictures
  std::vector<std::string> classes{};  ///< in sorted order; empty: regression
  std::uint64_t dropped = 0;           ///< samples that were left out, since a value is missing
  bool standardized = false;
  char decimal = '.';  ///< the decimal mark of the numbers in the files
  /// The rows of the test set, counted from 0, of a table whose test set is a part of its file.
  std::vector<std::uint32_t> held_out{};
  /// The factor of the loss of a training sample, for each class; empty: all count alike.
  std::vector<float> class_weights{};
  bool header = true;              ///< CSV: the first line of a file has the columns' names
  std::uint32_t first_column = 1;  ///< sparse rows: the number of the first column in the files
  /// The mean and deviation of a regression's targets over the training samples, and what is
  /// subtracted from each target before it becomes a float (shift_of in table/prepared_rows.h).
  /// Empty until it is decided.
  double target_mean = 0, target_deviation = 0;
  std::optional<double> target_shift{};

  std::uint64_t features() const {
    std::uint64_t sum = 0;
    for (const ColumnFacts& column : columns)
      sum += column.is_category() ? column.levels.size() : 1;
    return sum;
  }
};

/// Returns what the loss of a training sample is multiplied by, for each class; empty: all count
/// alike.
inline std::span<const float> class_weights(const Dataset& train) {
  if (!train.facts) return {};
  return train.facts->class_weights;
}

}  // namespace gv

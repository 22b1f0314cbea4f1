#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optim/data/dataset.h"

namespace gv {

/// A column of a model's input, before it is scaled.
struct ColumnFacts {
  std::string name;
  /// The values of a category in sorted order, each of which becomes a feature of 0 or 1. Empty for
  /// a column of numbers, which is one feature.
  std::vector<std::string> levels{};
  /// The share of each value of a category in the training samples that have a value.
  std::vector<double> shares{};
  double mean = 0;  ///< mean of numbers over the training samples that have one
  double deviation = 1;
  std::uint64_t missing = 0;  ///< number of samples without a value, in both sets
  bool date = false;          ///< days since 1970-01-01, written as dates

  bool is_category() const { return !levels.empty(); }
  /// The standardized number; a deviation of 0 counts as 1.
  double scaled(double value) const { return (value - mean) / (deviation > 0 ? deviation : 1); }
};

/// The facts of a data set from a user's files, or with weights of classes.
struct DataFacts {
  std::string format;                  ///< CSV, NPY, NPZ, LIBSVM, images
  std::string target;                  ///< the column to predict; "" if it is separate in the files
  std::vector<ColumnFacts> columns{};  ///< without the target; none for pictures
  std::vector<std::string> classes{};  ///< in sorted order; empty for a regression
  std::uint64_t dropped = 0;           ///< number of samples left out for a missing value
  bool standardized = false;
  char decimal = '.';  ///< the decimal mark of the numbers in the files
  /// The rows of the test set, from 0, if it is a part of the table's file.
  std::vector<std::uint32_t> held_out{};
  /// Factor of the loss of a training sample, by class; empty if all are equal.
  std::vector<float> class_weights{};
  bool header = true;              ///< CSV: the first line of a file has the columns' names
  std::uint32_t first_column = 1;  ///< sparse rows: the number of the first column in the files
  /// Mean and deviation of a regression's targets over the training samples, and the number that is
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

/// Returns the factor of the loss of a training sample, by class; empty if all are equal.
inline std::span<const float> class_weights(const Dataset& train) {
  if (!train.facts) return {};
  return train.facts->class_weights;
}

}  // namespace gv

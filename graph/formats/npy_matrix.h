#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gv {

/// A matrix as numpy.save writes it (NEP 1), of floats, whole numbers or booleans, by rows here.
struct NpyMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  bool single_precision = false;     ///< float32 in the file
  std::vector<double> values;        ///< rows * columns, all finite
  std::vector<std::string> names{};  ///< names of the columns, in a structured array; else empty

  double operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

/// Parses versions 1 and 2, C or Fortran order, little-endian. Throws GraphFileError "path: what"
/// on anything else, on a length that contradicts the header, and on the first entry that is not
/// finite.
NpyMatrix parse_npy_matrix(std::string_view bytes, const std::string& path);

/// Parses several matrices, an array of shape (count, rows, columns), or a single one.
std::vector<NpyMatrix> parse_npy_matrices(std::string_view bytes, const std::string& path);

/// Parses what parse_npy_matrix does, and structured arrays of one dimension whose fields are all
/// float64.
NpyMatrix parse_npy_table(std::string_view bytes, const std::string& path);

/// Version 1, float64, C order; with names, a structured array: `a["compute"]` in NumPy, and a
/// table with heads in pandas.
std::string npy_bytes(const NpyMatrix& m);

}  // namespace gv

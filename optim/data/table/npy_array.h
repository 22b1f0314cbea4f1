#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/data/reading/zip_entry.h"

namespace gv {

/// An array in NumPy's NPY format, row by row: "NEP 1 - A simple file format for NumPy arrays",
/// versions 1 to 3. Booleans, integers and floats of 8 to 64 bits, or text of at most
/// `most_characters`, little-endian, in C or Fortran order. An array of more than two dimensions is
/// read as rows of the first one.
class NpyArray {
 public:
  static constexpr std::size_t most_characters = 1000;
  enum class Elements : std::uint8_t { numbers, numbers_or_text };

  /// `where` names the array in messages. Throws std::runtime_error if header and bytes disagree,
  /// before any allocation by them.
  NpyArray(std::string where,
           std::unique_ptr<ByteSource> bytes,
           Elements wanted = Elements::numbers);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t columns() const { return columns_; }  ///< 1 for an array of one dimension
  const std::vector<std::uint64_t>& shape() const { return shape_; }
  /// Returns whether its elements are text: NumPy's types U and S.
  bool is_text() const { return kind_ == 'U' || kind_ == 'S'; }
  /// Reads the next row of `columns()` numbers. Every row can be read once.
  void read(std::span<double> row);
  /// Returns an element of the last row, with all digits of a whole number.
  std::string text_of_last(std::size_t column) const;
  /// Reads the next row of text, as UTF-8. Throws std::runtime_error for invalid characters.
  void read(std::span<std::string> row);

 private:
  [[noreturn]] void fail(const std::string& what) const;
  std::string read_header();
  void parse_type(const std::string& header, Elements wanted);
  bool parse_text_type(std::string_view type);
  void parse_shape(const std::string& header);
  void read_piece();
  /// Index of the first element of a row, and distance between elements.
  struct Stride {
    std::size_t first, step;
  };
  Stride next_row(std::size_t columns);
  double number_at(std::size_t index) const;
  std::string text_at(std::size_t index) const;

  std::string where_;
  std::unique_ptr<ByteSource> bytes_;
  char kind_ = 'f';
  std::size_t width_ = 4;
  bool fortran_ = false;
  std::uint64_t rows_ = 0, columns_ = 1;
  std::vector<std::uint64_t> shape_;
  std::uint64_t row_ = 0;    ///< next row
  Stride last_{0, 0};        ///< last row
  std::vector<char> piece_;  ///< some rows; in Fortran order all rows
  std::uint64_t piece_begin_ = 0, piece_end_ = 0;
};

}  // namespace gv

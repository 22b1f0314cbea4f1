#include "optim/data/table/npy_array.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "optim/check.h"
#include "optim/data/field.h"
#include "optim/data/reading/words.h"
#include "optim/data/table/table_plan.h"

// file   := "\x93NUMPY" major:u8 minor:u8 length header data
// length := u16 in version 1, u32 in versions 2 and 3, little-endian
// header := a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }

namespace gv {
namespace {

constexpr std::size_t most_header = 1U << 16;
constexpr std::size_t piece_bytes = 1U << 20;

/// Returns the header's text after `'key':`.
std::string_view value_of(std::string_view header, const std::string& key) {
  const std::size_t at = header.find("'" + key + "':");
  if (at == std::string_view::npos) return {};
  std::string_view value = header.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

template <class To, class Number>
To read_as(const char* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<To>(value);
}

template <class To>
To read_integer(const char* from, char kind, std::size_t width) {
  const bool sign = kind == 'i';
  switch (width) {
    case 1:
      return sign ? read_as<To, std::int8_t>(from) : read_as<To, std::uint8_t>(from);
    case 2:
      return sign ? read_as<To, std::int16_t>(from) : read_as<To, std::uint16_t>(from);
    case 4:
      return sign ? read_as<To, std::int32_t>(from) : read_as<To, std::uint32_t>(from);
    default:
      return sign ? read_as<To, std::int64_t>(from) : read_as<To, std::uint64_t>(from);
  }
}

/// Appends the character (RFC 3629, section 3); returns false if it does not exist.
bool append_utf8(char32_t character, std::string& to) {
  const bool surrogate = character >= 0xD800 && character < 0xE000;
  if (surrogate || character > 0x10FFFF) return false;
  const auto first = [&](char32_t mark, int shift) {
    to += static_cast<char>(mark | character >> shift);
  };
  const auto next = [&](int shift) {
    to += static_cast<char>(0x80U | (character >> shift & 0x3FU));
  };
  if (character < 0x80) {
    first(0, 0);
    return true;
  }
  if (character < 0x800) {
    first(0xC0, 6);
  } else if (character < 0x10000) {
    first(0xE0, 12);
    next(6);
  } else {
    first(0xF0, 18);
    next(12);
    next(6);
  }
  next(0);
  return true;
}

/// IEEE 754 binary16.
double half(const char* from) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  const int exponent = bits >> 10 & 31;
  const double fraction = static_cast<double>(bits & 1023) / 1024;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction > 0 ? std::numeric_limits<double>::quiet_NaN()
                        : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * fraction / 16384;
  return sign * (1 + fraction) *
         (exponent >= 15 ? static_cast<double>(1U << (exponent - 15))
                         : 1.0 / static_cast<double>(1U << (15 - exponent)));
}

}  // namespace

NpyArray::NpyArray(std::string where, std::unique_ptr<ByteSource> bytes, Elements wanted)
    : where_(std::move(where)), bytes_(std::move(bytes)) {
  const std::string header = read_header();
  parse_type(header, wanted);
  parse_shape(header);
  if (bytes_->left() != rows_ * columns_ * width_)
    fail("its header promises " + std::to_string(rows_ * columns_ * width_) + " bytes of " +
         (is_text() ? "text" : "numbers") + ", and " + std::to_string(bytes_->left()) + " follow");
}

void NpyArray::fail(const std::string& what) const {
  throw std::runtime_error(where_ + ": " + what +
                           "; save numbers of two dimensions: numpy.save(file, "
                           "array.astype('float64')), and ids as text: ids.astype(str)");
}

std::string NpyArray::read_header() {
  std::array<char, 8> first{};
  bytes_->read(first.data(), first.size());
  if (std::string_view(first.data(), 6) != "\x93NUMPY") fail("no array in NPY's format");
  if (first[6] < 1 || first[6] > 3)
    fail("an array of version " + std::to_string(static_cast<unsigned char>(first[6])));
  std::array<unsigned char, 4> length{};
  bytes_->read(reinterpret_cast<char*>(length.data()), first[6] == 1 ? 2 : 4);
  const std::size_t size = length[0] | std::size_t{length[1]} << 8 | std::size_t{length[2]} << 16 |
                           std::size_t{length[3]} << 24;
  if (size > most_header || size > bytes_->left())
    fail("a header of " + std::to_string(size) + " bytes");
  std::string header(size, ' ');
  bytes_->read(header.data(), header.size());
  return header;
}

void NpyArray::parse_type(const std::string& header, Elements wanted) {
  const std::string_view order = value_of(header, "fortran_order");
  if (!order.starts_with("True") && !order.starts_with("False"))
    fail("its header lacks `fortran_order`");
  fortran_ = order.starts_with("True");
  const std::string_view descr = value_of(header, "descr");
  if (wanted == Elements::numbers_or_text && parse_text_type(descr)) return;
  const std::string_view type = descr.substr(0, 5);
  if (type.starts_with("'|O'"))
    fail("Python's own objects, which are not read: save labels as text, labels.astype(str)");
  constexpr std::string_view known[] = {"'|b1'", "'|i1'", "'|u1'", "'<i2'", "'<u2'", "'<i4'",
                                        "'<u4'", "'<i8'", "'<u8'", "'<f2'", "'<f4'", "'<f8'"};
  const auto it = std::ranges::find(known, type);
  if (it == std::end(known))
    fail("elements of type " + shown(type) + ", not numbers of 8 to 64 bits, little-endian");
  kind_ = (*it)[2];
  width_ = static_cast<std::size_t>((*it)[3] - '0');
}

/// '<U12': characters of four bytes each; '|S12': bytes.
bool NpyArray::parse_text_type(std::string_view type) {
  if (!type.starts_with("'<U") && !type.starts_with("'|S")) return false;
  const std::string_view digits = type.substr(3, std::min(type.find('\'', 3), type.size()) - 3);
  const auto characters = number_of<std::uint64_t>(digits);
  if (!characters || *characters == 0 || *characters > most_characters)
    fail("text of " + shown(digits) + " characters; from 1 to " + std::to_string(most_characters) +
         " are read");
  kind_ = type[2];
  width_ = *characters * (kind_ == 'U' ? sizeof(char32_t) : 1);
  return true;
}

void NpyArray::parse_shape(const std::string& header) {
  std::string_view text = value_of(header, "shape");
  const std::size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) fail("its header has no `shape`");
  text = text.substr(1, close - 1);
  std::vector<std::uint64_t> shape;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    if (word.empty()) continue;
    const auto side = number_of<std::uint64_t>(word);
    if (!side || shape.size() == 4) fail("a shape that makes no sense");
    shape.push_back(*side);
  }
  if (shape.empty()) fail("a single number");
  shape_ = shape;
  rows_ = shape[0];
  for (std::size_t k = 1; k < shape.size(); ++k) {
    if (shape[k] > table_bounds::columns) fail("a side of " + std::to_string(shape[k]));
    columns_ *= shape[k];
  }
  if (rows_ == 0 || columns_ == 0) fail("an array without elements");
  if (rows_ > table_bounds::rows || columns_ > table_bounds::columns)
    fail(std::to_string(rows_) + " rows of " + std::to_string(columns_) + " columns; at most " +
         std::to_string(table_bounds::rows) + " of " + std::to_string(table_bounds::columns) +
         " are read");
  if (shape.size() > 2 && fortran_) fail("more than two dimensions in Fortran's order");
}

void NpyArray::read_piece() {
  const std::uint64_t row_bytes = columns_ * width_;
  const std::uint64_t some =
      fortran_ ? rows_
               : std::min(rows_ - row_, std::max<std::uint64_t>(1, piece_bytes / row_bytes));
  piece_.resize(some * row_bytes);
  bytes_->read(piece_.data(), piece_.size());
  piece_begin_ = row_;
  piece_end_ = row_ + some;
  if (piece_end_ == rows_) bytes_->end();
}

double NpyArray::number_at(std::size_t index) const {
  const char* const from = piece_.data() + index * width_;
  if (kind_ == 'f')
    return width_ == 2   ? half(from)
           : width_ == 4 ? read_as<double, float>(from)
                         : read_as<double, double>(from);
  return read_integer<double>(from, kind_, width_);
}

std::string NpyArray::text_of_last(std::size_t column) const {
  const std::size_t index = last_.first + column * last_.step;
  if (is_text()) return text_at(index);
  if (kind_ == 'f') return name_of(number_at(index));
  const char* const from = piece_.data() + index * width_;
  return kind_ == 'i' ? std::to_string(read_integer<std::int64_t>(from, kind_, width_))
                      : std::to_string(read_integer<std::uint64_t>(from, kind_, width_));
}

/// Returns an element without its padding zeros.
std::string NpyArray::text_at(std::size_t index) const {
  const std::string_view element(piece_.data() + index * width_, width_);
  if (kind_ == 'S') return std::string(element.substr(0, element.find_last_not_of('\0') + 1));
  std::string text;
  std::size_t zeros = 0;  // padding, unless a character follows
  for (std::size_t at = 0; at < width_; at += sizeof(char32_t)) {
    char32_t character = 0;
    std::memcpy(&character, element.data() + at, sizeof character);
    if (character == 0) {
      ++zeros;
      continue;
    }
    text.append(std::exchange(zeros, 0), '\0');
    if (!append_utf8(character, text))
      fail("row " + std::to_string(row_) + " has text that is no characters");
  }
  return text;
}

NpyArray::Stride NpyArray::next_row(std::size_t columns) {
  GV_CHECK_EQUAL(columns, columns_, "room for a row");
  GV_CHECK(row_ < rows_, "a row that is there");
  if (row_ == piece_end_) read_piece();
  const std::uint64_t in_piece = row_ - piece_begin_;
  last_ = fortran_ ? Stride{in_piece, rows_} : Stride{in_piece * columns_, 1};
  return last_;
}

void NpyArray::read(std::span<double> row) {
  GV_CHECK(!is_text(), "numbers are asked for");
  const Stride at = next_row(row.size());
  for (std::size_t c = 0; c < row.size(); ++c) row[c] = number_at(at.first + c * at.step);
  ++row_;
}

void NpyArray::read(std::span<std::string> row) {
  GV_CHECK(is_text(), "text is asked for");
  const Stride at = next_row(row.size());
  for (std::size_t c = 0; c < row.size(); ++c) row[c] = text_at(at.first + c * at.step);
  ++row_;
}

}  // namespace gv

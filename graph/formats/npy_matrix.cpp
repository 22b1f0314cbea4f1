#include "graph/formats/npy_matrix.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "graph/formats/file_error.h"

// 6 bytes "\x93NUMPY", version major and minor, header length (2 bytes; version 2: 4), the header:
// a Python dictionary with descr, fortran_order and shape, then the entries. NumPy NEP 1.

namespace gv {
namespace {

static_assert(std::endian::native == std::endian::little, "the entries are read as they lie");

constexpr std::string_view magic = "\x93NUMPY";

/// The forms that an array may have.
enum class Form {
  matrix,
  table,    ///< a matrix, or a list of structures
  matrices  ///< a matrix, or several in succession
};

struct Header {
  std::string type = "<f8";
  bool fortran = false;
  std::size_t matrices = 1;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t length = 0;  ///< length before the entries
  std::vector<std::string> fields{};
};

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t k = bytes.size(); k-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[k]);
  return value;
}

template <class Number>
double read_as(const char* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<double>(value);
}

/// The types of entries: floats, and the whole numbers and booleans of adjacency matrices.
struct EntryType {
  std::string_view name;
  std::size_t bytes;
  double (*read)(const char* from);
};
constexpr std::array<EntryType, 11> entry_types{{{"<f8", 8, read_as<double>},
                                                 {"<f4", 4, read_as<float>},
                                                 {"|b1", 1, read_as<std::uint8_t>},
                                                 {"|i1", 1, read_as<std::int8_t>},
                                                 {"|u1", 1, read_as<std::uint8_t>},
                                                 {"<i2", 2, read_as<std::int16_t>},
                                                 {"<u2", 2, read_as<std::uint16_t>},
                                                 {"<i4", 4, read_as<std::int32_t>},
                                                 {"<u4", 4, read_as<std::uint32_t>},
                                                 {"<i8", 8, read_as<std::int64_t>},
                                                 {"<u8", 8, read_as<std::uint64_t>}}};

/// Returns null for types that are not read.
const EntryType* entry_type(std::string_view name) {
  const auto found = std::ranges::find(entry_types, name, &EntryType::name);
  return found == entry_types.end() ? nullptr : &*found;
}

/// Reads the dictionary of a header, `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }`,
/// in one pass without recursion: a header comes from anywhere and may be 64 KiB long.
class Dictionary {
 public:
  Dictionary(std::string_view text, const std::string& path, Form form)
      : text_(text), path_(path), form_(form) {}

  void read(Header& header) {
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (!once(key)) fail("the key `" + excerpt(key) + "` twice, or unknown, in the header");
      if (key == "descr") read_type(header);
      if (key == "fortran_order") read_order(header);
      if (key == "shape") read_shape(header);
      if (!take(',') && !at('}')) fail("expected `,` or `}` in the header");
    }
    for (const Key& key : keys_)
      if (!key.found) fail("no " + std::string(key.name) + " in the header");
  }

 private:
  struct Key {
    std::string_view name;
    bool found = false;
  };

  [[noreturn]] void fail(const std::string& what) const { refuse_file(path_ + ": ", what); }

  void skip_space() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
  }
  bool at(char c) {
    skip_space();
    return text_.starts_with(c);
  }
  bool take(char c) {
    if (!at(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected `") + c + "` in the header");
  }
  std::string_view until(std::size_t end) {
    const std::string_view piece = text_.substr(0, end);
    text_.remove_prefix(piece.size());
    return piece;
  }
  std::string_view quoted() {
    expect('\'');
    const std::string_view piece = until(text_.find('\''));
    expect('\'');
    return piece;
  }
  bool once(std::string_view name) {
    const auto key = std::ranges::find(keys_, name, &Key::name);
    return key != keys_.end() && !std::exchange(key->found, true);
  }

  void read_type(Header& header) {
    if (form_ == Form::table && at('[')) return read_fields(header);
    if (!at('\'')) fail("entries of several parts: save float32 or float64");
    header.type = quoted();
    if (entry_type(header.type) == nullptr)
      fail("entries of type `" + excerpt(header.type) +
           "`: save float32 or float64, such as A.astype(float)");
  }

  /// `[('compute', '<f8'), ...]`
  void read_fields(Header& header) {
    constexpr std::size_t most_fields = 256;
    expect('[');
    while (!take(']')) {
      expect('(');
      header.fields.emplace_back(quoted());
      expect(',');
      if (quoted() != "<f8") fail("a field that is not float64");
      expect(')');
      if (header.fields.size() > most_fields) fail("more than 256 fields");
      if (!take(',') && !at(']')) fail("expected `,` or `]` in the header");
    }
    if (header.fields.empty()) fail("entries without fields");
  }

  void read_order(Header& header) {
    skip_space();
    const std::string_view word = until(text_.find_first_of(",} \t\r\n"));
    if (word != "True" && word != "False") fail("fortran_order is neither True nor False");
    header.fortran = word == "True";
  }

  void read_shape(Header& header) {
    expect('(');
    const std::string_view whole = text_.substr(0, text_.find(')'));
    std::vector<std::size_t> sides;
    bool comma = true;
    for (auto next = side(); next && comma && sides.size() < 4; next = side()) {
      sides.push_back(*next);
      comma = take(',');
    }
    const bool stacked = form_ == Form::matrices && sides.size() == 3;
    const std::size_t wanted = fields_given(header) ? 1 : 2;
    if ((!stacked && sides.size() != wanted) || (wanted == 1 && !comma) || !take(')'))
      fail("the shape (" + excerpt(whole) + ") is not that of a matrix" +
           (form_ == Form::matrices ? ", nor (count, rows, columns)" : ""));
    if (stacked) header.matrices = sides[0];
    header.rows = sides[stacked ? 1 : 0];
    header.columns = wanted == 1 ? header.fields.size() : sides.back();
  }

  std::optional<std::size_t> side() {
    skip_space();
    const std::string_view digits = until(text_.find_first_not_of("0123456789"));
    if (digits.empty()) return std::nullopt;
    if (digits.size() > 6) fail("a matrix with " + excerpt(digits) + " rows or columns");
    std::size_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  }

  static bool fields_given(const Header& header) { return !header.fields.empty(); }

  std::string_view text_;
  const std::string& path_;
  Form form_;
  /// NumPy writes the keys of a header in this order, that of the alphabet.
  std::array<Key, 3> keys_{{{"descr"}, {"fortran_order"}, {"shape"}}};
};

Header read_header(std::string_view bytes, const std::string& path, Form form) {
  if (!bytes.starts_with(magic) || bytes.size() < 12)
    refuse_file(path + ": ", "not a .npy file: save it with numpy.save");
  const int version = bytes[6];
  if (version != 1 && version != 2)
    refuse_file(path + ": ", "version " + std::to_string(version) + " of .npy; 1 and 2 are read");
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t length = little_endian(bytes.substr(8, width));
  Header header;
  header.length = 8 + width + length;
  if (header.length > bytes.size() || length > 65536)
    refuse_file(path + ": ", "the header is cut off");
  Dictionary(bytes.substr(8 + width, length), path, form).read(header);
  return header;
}

/// Returns matrix `m` of the array.
NpyMatrix matrix_of(const Header& header,
                    std::string_view entries,
                    std::size_t m,
                    const std::string& path) {
  const auto [rows, columns] = std::pair{header.rows, header.columns};
  const EntryType& type = *entry_type(header.type);
  NpyMatrix matrix{rows, columns, header.type == "<f4", {}, header.fields};
  matrix.values.reserve(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t k =
          header.fortran ? m + header.matrices * (i + rows * j) : (m * rows + i) * columns + j;
      matrix.values.push_back(type.read(entries.data() + k * type.bytes));
      if (std::isfinite(matrix.values.back())) continue;
      const std::string first = header.matrices > 1 ? std::to_string(m) + ", " : "";
      refuse_file(path + ": ", "entry (" + first + std::to_string(i) + ", " + std::to_string(j) +
                                   ") is not finite: every entry must be a number");
    }
  }
  return matrix;
}

std::vector<NpyMatrix> parse(std::string_view bytes, const std::string& path, Form form) {
  const Header header = read_header(bytes, path, form);
  const std::size_t width = entry_type(header.type)->bytes;
  const std::size_t count = header.matrices * header.rows * header.columns;
  bytes.remove_prefix(header.length);
  if (bytes.size() != count * width) {
    refuse_file(path + ": ", std::to_string(bytes.size()) +
                                 " bytes of entries, the header promises " +
                                 std::to_string(count * width));
  }
  if (count == 0 && form == Form::matrices) refuse_file(path + ": ", "an array without entries");
  std::vector<NpyMatrix> all;
  all.reserve(header.matrices);
  for (std::size_t m = 0; m < header.matrices; ++m)
    all.push_back(matrix_of(header, bytes, m, path));
  return all;
}

std::string type_text(const std::vector<std::string>& names) {
  if (names.empty()) return "'<f8'";
  std::string text;
  for (const std::string& name : names) {
    text.append(text.empty() ? "[('" : ", ('");
    text.append(name).append("', '<f8')");
  }
  return text.append("]");
}

std::string shape_text(const NpyMatrix& m) {
  std::string text = std::to_string(m.rows);
  text.append(",");
  if (m.names.empty()) text.append(" ").append(std::to_string(m.columns));
  return text;
}

}  // namespace

NpyMatrix parse_npy_matrix(std::string_view bytes, const std::string& path) {
  return std::move(parse(bytes, path, Form::matrix)[0]);
}

std::vector<NpyMatrix> parse_npy_matrices(std::string_view bytes, const std::string& path) {
  return parse(bytes, path, Form::matrices);
}

NpyMatrix parse_npy_table(std::string_view bytes, const std::string& path) {
  return std::move(parse(bytes, path, Form::table)[0]);
}

std::string npy_bytes(const NpyMatrix& m) {
  std::string header = "{'descr': ";
  header.append(type_text(m.names)).append(", 'fortran_order': False, 'shape': (");
  header.append(shape_text(m)).append("), }");
  header.append(63 - (10 + header.size()) % 64, ' ');  // entries start at a multiple of 64
  header += '\n';
  std::string bytes(magic);
  bytes += {1, 0, static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  const std::size_t start = bytes.size();
  bytes.resize(start + 8 * m.values.size());
  std::memcpy(bytes.data() + start, m.values.data(), 8 * m.values.size());
  return bytes;
}

}  // namespace gv

#include "graph/formats/npy_matrix.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <regex>

#include "graph/formats/listed_graph.h"

// 6 bytes "\x93NUMPY", version major and minor, header length (2 bytes; version 2: 4), the header:
// a Python dictionary with descr, fortran_order and shape, then the entries. NumPy NEP 1.

namespace gv {
namespace {

static_assert(std::endian::native == std::endian::little, "the entries are read as they lie");

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
  bool single_precision = false;
  bool fortran = false;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t length = 0;  ///< of everything before the entries
};

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t k = bytes.size(); k-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[k]);
  return value;
}

std::size_t dimension(const std::string& digits, const std::string& path) {
  if (digits.size() > 6) refuse_file(path + ": ", "a matrix with " + digits + " rows or columns");
  return std::stoul(digits);
}

void read_dictionary(const std::string& text, const std::string& path, Header& header) {
  static const std::regex descr(R"('descr'\s*:\s*'([^']*)')");
  static const std::regex order(R"('fortran_order'\s*:\s*(True|False))");
  static const std::regex shape(R"('shape'\s*:\s*\(([^)]*)\))");
  static const std::regex two(R"(\s*(\d+)\s*,\s*(\d+)\s*,?\s*)");
  std::smatch match;
  if (!std::regex_search(text, match, descr)) refuse_file(path + ": ", "no descr in the header");
  const std::string type = match[1];
  if (type != "<f8" && type != "<f4") {
    refuse_file(path + ": ",
                "entries of type `" + type + "`: save float32 or float64, such as A.astype(float)");
  }
  header.single_precision = type == "<f4";
  if (!std::regex_search(text, match, order))
    refuse_file(path + ": ", "no fortran_order in the header");
  header.fortran = match[1] == "True";
  if (!std::regex_search(text, match, shape)) refuse_file(path + ": ", "no shape in the header");
  const std::string sides = match[1];
  if (!std::regex_match(sides, match, two))
    refuse_file(path + ": ", "the shape (" + sides + ") is not that of a matrix");
  header.rows = dimension(match[1], path);
  header.columns = dimension(match[2], path);
}

Header read_header(std::string_view bytes, const std::string& path) {
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
  read_dictionary(std::string(bytes.substr(8 + width, length)), path, header);
  return header;
}

}  // namespace

NpyMatrix parse_npy_matrix(std::string_view bytes, const std::string& path) {
  const Header header = read_header(bytes, path);
  const std::size_t width = header.single_precision ? 4 : 8;
  const std::size_t count = header.rows * header.columns;
  bytes.remove_prefix(header.length);
  if (bytes.size() != count * width) {
    refuse_file(path + ": ",
                std::to_string(bytes.size()) + " bytes of entries, the header promises " +
                    std::to_string(count * width));
  }
  NpyMatrix m{header.rows, header.columns, header.single_precision, std::vector<double>(count)};
  for (std::size_t k = 0; k < count; ++k) {
    double value = 0;
    if (header.single_precision) {
      float single = 0;
      std::memcpy(&single, bytes.data() + k * width, width);
      value = static_cast<double>(single);
    } else {
      std::memcpy(&value, bytes.data() + k * width, width);
    }
    const std::size_t i = header.fortran ? k % header.rows : k / header.columns;
    const std::size_t j = header.fortran ? k / header.rows : k % header.columns;
    if (!std::isfinite(value)) {
      refuse_file(path + ": ",
                  "entry (" + std::to_string(i) + ", " + std::to_string(j) +
                      ") is not finite: every entry must be a number");
    }
    m.values[i * header.columns + j] = value;
  }
  return m;
}

std::string npy_bytes(const NpyMatrix& m) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                       std::to_string(m.rows) + ", " + std::to_string(m.columns) + "), }";
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

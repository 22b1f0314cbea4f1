#include "graph/formats/file_bytes.h"

#include <array>
#include <filesystem>
#include <fstream>

#include "graph/formats/file_error.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

void require_regular(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    refuse_file(path + ": ", "cannot be opened: there is no such file");
  if (fs::is_directory(status)) refuse_file(path + ": ", "is a folder, not a file");
  if (status.type() == fs::file_type::none)
    refuse_file(path + ": ", "cannot be opened: " + error.message());
  if (!fs::is_regular_file(status)) {
    refuse_file(path + ": ",
                "is a pipe or a device, not a regular file: write the content to a file first");
  }
}

}  // namespace

std::string file_bytes(const std::string& path, std::uint64_t most) {
  require_regular(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse_file(path + ": ", "cannot be opened");
  std::string bytes;
  // The length is counted while reading: a file of /proc, or one that grows, has another size.
  std::array<char, 1 << 16> piece{};
  while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
    bytes.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > most) {
      refuse_file(path + ": ",
                  "is longer than the " + std::to_string(most) + " bytes that are read");
    }
  }
  if (in.bad()) refuse_file(path + ": ", "cannot be read");
  return bytes;
}

}  // namespace gv

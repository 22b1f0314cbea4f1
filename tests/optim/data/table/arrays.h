#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <zlib.h>

namespace gv {

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

/// Returns an NPY file of version 1, as numpy.save writes it.
inline std::string npy(const std::string& type,
                       const std::string& shape,
                       const std::string& data,
                       bool fortran = false) {
  std::string header = "{'descr': '" + type +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY\x01";
  file += '\0';
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int k = 0; k < bytes; ++k) text += static_cast<char>(value >> 8 * k & 255);
  return text;
}

struct ZipEntry {
  std::string name, content;
};

/// Returns a ZIP archive as numpy.savez (stored) and savez_compressed (deflated) write it.
inline std::string zip(const std::vector<ZipEntry>& entries, bool deflated) {
  std::string file, directory;
  for (const ZipEntry& entry : entries) {
    std::string packed = entry.content;
    if (deflated) {
      z_stream stream{};
      deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
      packed.resize(deflateBound(&stream, entry.content.size()));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(entry.content.data()));
      stream.avail_in = static_cast<uInt>(entry.content.size());
      stream.next_out = reinterpret_cast<Bytef*>(packed.data());
      stream.avail_out = static_cast<uInt>(packed.size());
      deflate(&stream, Z_FINISH);
      packed.resize(stream.total_out);
      deflateEnd(&stream);
    }
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                           static_cast<uInt>(entry.content.size()));
    const std::string common = little(20, 2) + little(0, 2) + little(deflated ? 8 : 0, 2) +
                               little(0, 4) + little(crc, 4) + little(packed.size(), 4) +
                               little(entry.content.size(), 4) + little(entry.name.size(), 2) +
                               little(0, 2);
    directory += little(0x02014b50, 4) + little(20, 2) + common + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(file.size(), 4) + entry.name;
    file += little(0x04034b50, 4) + common + entry.name + packed;
  }
  return file + directory + little(0x06054b50, 4) + little(0, 4) + little(entries.size(), 2) +
         little(entries.size(), 2) + little(directory.size(), 4) + little(file.size(), 4) +
         little(0, 2);
}

}  // namespace gv

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gv {

/// The bytes of a file or of an archive's entry, in order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads exactly n bytes. Throws std::runtime_error "path: the error" if there are fewer.
  virtual void read(char* to, std::size_t n) = 0;
  /// Returns the number of bytes left. An archive may give a false number, but never more than its
  /// content can expand to.
  virtual std::uint64_t left() const = 0;
  /// Called after the last byte; throws if a checksum is wrong.
  virtual void end() {}
};

/// Opens the bytes [offset, offset + size) of a file; throws if it has fewer.
std::unique_ptr<ByteSource> open_bytes(const std::string& path,
                                       std::uint64_t offset,
                                       std::uint64_t size);
/// Opens the whole file.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// Opens the entry of a ZIP archive with that name, stored or deflated; null if there is none.
/// Throws for archives that are damaged, encrypted or larger than 4 GiB. PKWARE, "APPNOTE.TXT -
/// .ZIP file format specification", 6.3.10.
std::unique_ptr<ByteSource> open_zip_entry(const std::string& path, const std::string& name);
/// The names of all entries. Throws for damaged archives.
std::vector<std::string> zip_entries(const std::string& path);

}  // namespace gv

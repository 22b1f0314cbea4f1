#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gv {

/// Bytes of a file or of an entry of an archive, from the front to the end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Exactly n bytes. Throws std::runtime_error "path: what is wrong" when there are fewer.
  virtual void read(char* to, std::size_t n) = 0;
  /// Returns how many bytes are left. An archive may lie about it, but never says more than can
  /// come of what it holds.
  virtual std::uint64_t left() const = 0;
  /// Called behind the last byte: throws when a check sum does not fit.
  virtual void end() {}
};

/// The bytes [offset, offset + size) of a file; throws when it has fewer.
std::unique_ptr<ByteSource> open_bytes(const std::string& path,
                                       std::uint64_t offset,
                                       std::uint64_t size);
/// Does the same for the whole file.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// The entry of a ZIP archive of that name, stored or deflated; null when there is none. Throws for
/// archives that are damaged, encrypted or larger than 4 GiB. PKWARE, "APPNOTE.TXT - .ZIP file
/// format specification", 6.3.10.
std::unique_ptr<ByteSource> open_zip_entry(const std::string& path, const std::string& name);
/// The names of all entries. Throws for archives that are damaged.
std::vector<std::string> zip_entries(const std::string& path);

}  // namespace gv

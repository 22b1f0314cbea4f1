#include "optim/data/reading/zip_entry.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <zlib.h>

// ZIP, little-endian, as written by numpy.savez (its local headers lack the sizes, so the directory
// at the end is read):
//   file      := (local bytes)* directory end
//   directory := entry*      0x02014b50 ... method:u16@10 crc:u32@16 packed:u32@20 size:u32@24
//                            name:u16@28 extra:u16@30 comment:u16@32 local:u32@42, 46 bytes
//   local     := 0x04034b50 ... name:u16@26 extra:u16@28, 30 bytes
//   end       := 0x06054b50 ... entries:u16@10 bytes:u32@12 offset:u32@16 comment:u16@20

namespace gv {
namespace {

constexpr std::uint32_t end_magic = 0x06054b50, entry_magic = 0x02014b50, local_magic = 0x04034b50;
constexpr std::size_t end_bytes = 22, entry_bytes = 46, local_bytes = 30;
constexpr std::uint64_t most_directory = 1U << 20;
constexpr std::uint64_t most_ratio = 1032;  ///< for deflate; zlib.net, "Maximum compression factor"

[[noreturn]] void refuse_zip(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what + "; save it again (numpy.savez), or as .npy");
}

std::uint32_t number(const std::vector<char>& bytes, std::size_t at, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < width; ++k)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + k])} << 8 * k;
  return value;
}

std::vector<char> bytes_at(const std::string& path, std::uint64_t offset, std::uint64_t size) {
  std::vector<char> bytes(size);
  open_bytes(path, offset, size)->read(bytes.data(), bytes.size());
  return bytes;
}

struct Entry {
  std::uint32_t flags, method, crc;
  std::uint64_t packed, size, local;
};

/// Returns the directory's bytes, by the last record that looks like an end.
std::vector<char> directory_of(const std::string& path) {
  const std::uint64_t whole = open_bytes(path)->left();
  const std::uint64_t tail = std::min<std::uint64_t>(whole, end_bytes + 0xFFFF);
  const std::vector<char> last = bytes_at(path, whole - tail, tail);
  for (std::size_t at = last.size(); at-- > 0;) {
    if (at + end_bytes > last.size() || number(last, at, 4) != end_magic) continue;
    const std::uint64_t size = number(last, at + 12, 4);
    const std::uint64_t offset = number(last, at + 16, 4);
    if (offset == 0xFFFFFFFF) refuse_zip(path, "an archive beyond 4 GiB");
    if (size > most_directory) refuse_zip(path, "a directory of more than 1 MiB");
    return bytes_at(path, offset, size);
  }
  refuse_zip(path, "a damaged archive: it has no directory");
}

/// Calls look(name, entry) for each entry, until it returns that it is done.
template <class Look>
void each_entry(const std::string& path, Look look) {
  const std::vector<char> d = directory_of(path);
  for (std::size_t at = 0; at + entry_bytes <= d.size();) {
    const std::size_t name_bytes = number(d, at + 28, 2);
    const std::size_t rest = number(d, at + 30, 2) + number(d, at + 32, 2);
    if (number(d, at, 4) != entry_magic || at + entry_bytes + name_bytes > d.size())
      refuse_zip(path, "a damaged archive: its directory makes no sense");
    const Entry entry{.flags = number(d, at + 8, 2),
                      .method = number(d, at + 10, 2),
                      .crc = number(d, at + 16, 4),
                      .packed = number(d, at + 20, 4),
                      .size = number(d, at + 24, 4),
                      .local = number(d, at + 42, 4)};
    if (look(std::string_view(d.data() + at + entry_bytes, name_bytes), entry)) return;
    at += entry_bytes + name_bytes + rest;
  }
}

/// The unpacked bytes of an entry, with its check sum.
class EntryBytes : public ByteSource {
 public:
  EntryBytes(std::string path, const Entry& entry)
      : path_(std::move(path)), entry_(entry), left_(entry.size), input_(1U << 16) {
    const std::vector<char> local = bytes_at(path_, entry.local, local_bytes);
    if (number(local, 0, 4) != local_magic) refuse_zip(path_, "a damaged archive");
    const std::uint64_t names = number(local, 26, 2) + number(local, 28, 2);
    packed_ = open_bytes(path_, entry.local + local_bytes + names, entry.packed);
    if (deflated() && inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
      refuse_zip(path_, "zlib has no memory");
  }
  ~EntryBytes() override {
    if (deflated()) inflateEnd(&stream_);
  }
  EntryBytes(const EntryBytes&) = delete;
  EntryBytes& operator=(const EntryBytes&) = delete;

  void read(char* to, std::size_t n) override {
    if (n > left_) refuse_zip(path_, "an array that ends too early");
    for (std::size_t done = 0; done < n;) {
      const std::size_t some = std::min<std::size_t>(n - done, 1U << 30);
      deflated() ? inflate_to(to + done, some) : packed_->read(to + done, some);
      crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(to + done), static_cast<uInt>(some));
      done += some;
    }
    left_ -= n;
  }
  std::uint64_t left() const override { return left_; }
  void end() override {
    if (left_ != 0 || crc_ != entry_.crc)
      refuse_zip(path_, "a damaged archive: a check sum is wrong");
  }

 private:
  bool deflated() const { return entry_.method == 8; }

  void inflate_to(char* to, std::size_t n) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(n);
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0) {
        const std::size_t more = std::min<std::uint64_t>(packed_->left(), input_.size());
        packed_->read(input_.data(), more);
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(more);
      }
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && !(result == Z_STREAM_END && stream_.avail_out == 0))
        refuse_zip(path_, "a damaged archive: an array cannot be unpacked");
    }
  }

  std::string path_;
  Entry entry_;
  std::uint64_t left_;
  std::vector<char> input_;
  std::unique_ptr<ByteSource> packed_;
  z_stream stream_{};
  uLong crc_ = 0;
};

class FileBytes : public ByteSource {
 public:
  FileBytes(std::string path, std::uint64_t offset, std::uint64_t size)
      : path_(std::move(path)), in_(path_, std::ios::binary), left_(size) {
    if (!in_) throw std::runtime_error(path_ + ": cannot be opened");
    const std::uint64_t whole = std::filesystem::file_size(path_);
    if (offset > whole || size > whole - offset)
      throw std::runtime_error(path_ + ": is truncated: " + std::to_string(whole) +
                               " bytes; save it again");
    in_.seekg(static_cast<std::streamoff>(offset));
  }

  void read(char* to, std::size_t n) override {
    if (n <= left_) in_.read(to, static_cast<std::streamsize>(n));
    if (n > left_ || !in_) throw std::runtime_error(path_ + ": is truncated; save it again");
    left_ -= n;
  }
  std::uint64_t left() const override { return left_; }

 private:
  std::string path_;
  std::ifstream in_;
  std::uint64_t left_;
};

}  // namespace

std::unique_ptr<ByteSource> open_zip_entry(const std::string& path, const std::string& name) {
  std::optional<Entry> found;
  each_entry(path, [&](std::string_view called, const Entry& e) {
    if (called == name) found = e;
    return found.has_value();
  });
  if (!found) return nullptr;
  const Entry& entry = *found;
  if ((entry.flags & 1U) != 0) refuse_zip(path, "an encrypted archive");
  if (entry.size == 0xFFFFFFFF || entry.packed == 0xFFFFFFFF)
    refuse_zip(path, "an array beyond 4 GiB in an archive");
  if (entry.method != 0 && entry.method != 8)
    refuse_zip(path, "an array that is neither stored nor deflated");
  if (entry.method == 0 ? entry.size != entry.packed : entry.size / most_ratio > entry.packed)
    refuse_zip(path, "a damaged archive: its sizes make no sense");
  return std::make_unique<EntryBytes>(path, entry);
}

std::vector<std::string> zip_entries(const std::string& path) {
  std::vector<std::string> names;
  each_entry(path, [&](std::string_view called, const Entry&) {
    names.emplace_back(called);
    return false;
  });
  return names;
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path,
                                       std::uint64_t offset,
                                       std::uint64_t size) {
  return std::make_unique<FileBytes>(path, offset, size);
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return open_bytes(path, 0, std::filesystem::file_size(path));
}

}  // namespace gv

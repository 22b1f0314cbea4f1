#include "optim/data/table/byte_source.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace gv {
namespace {

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

std::unique_ptr<ByteSource> open_bytes(const std::string& path,
                                       std::uint64_t offset,
                                       std::uint64_t size) {
  return std::make_unique<FileBytes>(path, offset, size);
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return open_bytes(path, 0, std::filesystem::file_size(path));
}

}  // namespace gv

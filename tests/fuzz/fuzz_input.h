#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gv::fuzz {

/// The bytes of one execution, taken from the front. After the end come zeros, so that every input
/// is valid.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  bool empty() const { return left_.empty(); }
  std::size_t left() const { return left_.size(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const std::uint8_t value = left_.front();
    left_ = left_.subspan(1);
    return value;
  }
  bool flag() { return (byte() & 1U) != 0; }
  /// Little-endian.
  std::uint16_t word() {
    const unsigned low = byte();
    return static_cast<std::uint16_t>(low | static_cast<unsigned>(byte()) << 8U);
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned k = 0; k < 8; ++k) value |= std::uint64_t{byte()} << 8 * k;
    return value;
  }
  /// Returns a number from 0 to n - 1.
  std::size_t below(std::size_t n) { return byte() % n; }

  std::span<const std::byte> bytes(std::size_t most) {
    const std::span<const std::uint8_t> taken = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(taken.size());
    return std::as_bytes(taken);
  }
  std::span<const std::byte> rest() { return bytes(left_.size()); }
  std::string_view text(std::size_t most) {
    const std::span<const std::byte> taken = bytes(most);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  std::string_view text() { return text(left_.size()); }

  /// Separates the files in one input; no grammar that we read has this line.
  static constexpr std::string_view between = "\x1e~~\n";
  std::string_view file() {
    const std::string_view all{reinterpret_cast<const char*>(left_.data()), left_.size()};
    const std::size_t end = std::min(all.find(between), all.size());
    left_ = left_.subspan(std::min(end + between.size(), all.size()));
    return all.substr(0, end);
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace gv::fuzz

#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gv {

// Grammar of a training state, little-endian:
//   state  := value*
//   value  := u64 | double | vector | name
//   vector := length:u64 element*                   elements as in memory
//   name   := vector of char                        owner of the following values
// Values have no type tag: they are restored in the order in which they were saved.

/// The writer that a training state is saved to.
class StateWriter {
 public:
  void name(std::string_view name) { values(name); }
  void u64(std::uint64_t value);
  void real(double value);
  template <std::ranges::contiguous_range R>
  void values(const R& range) {
    static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<R>>);
    const std::span elements(range);
    u64(elements.size());
    append(std::as_bytes(elements));
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::exchange(bytes_, {}); }

 private:
  void append(std::span<const std::byte> bytes);

  std::vector<std::byte> bytes_;
};

/// The inverse. Throws std::runtime_error if a value does not fit; values restored before must not
/// be used.
class StateReader {
 public:
  /// `bytes` must outlive the reader.
  explicit StateReader(std::span<const std::byte> bytes) : left_(bytes) {}

  void name(std::string_view expected);  ///< throws if another name was saved here
  std::string text();                    ///< the name that was saved here
  std::uint64_t u64();
  double real();
  /// Fills the range; throws unless exactly this number of elements was saved.
  template <std::ranges::contiguous_range R>
  void values(R&& range) {
    static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<R>>);
    const std::span elements(range);
    check_length(elements.size());
    copy_to(std::as_writable_bytes(elements));
  }
  bool at_end() const { return left_.empty(); }
  void end() const;  ///< throws if bytes are left

 private:
  void check_length(std::uint64_t expected);
  void copy_to(std::span<std::byte> to);

  std::span<const std::byte> left_;
};

}  // namespace gv

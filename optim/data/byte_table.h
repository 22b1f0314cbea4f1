#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "optim/check.h"

namespace gv {

/// The bytes of a data set: our own, which are filled once, or those of a mapped file, which all
/// processes of a machine share and nobody writes.
class ByteTable {
 public:
  using value_type = std::uint8_t;

  ByteTable() = default;
  ByteTable(std::vector<std::uint8_t> own) : own_(std::move(own)) {}
  /// `keep`: as long as it lives, the bytes stay.
  ByteTable(std::span<const std::uint8_t> mapped, std::shared_ptr<const void> keep)
      : mapped_(mapped), keep_(std::move(keep)) {}

  const std::uint8_t* data() const { return keep_ ? mapped_.data() : own_.data(); }
  std::size_t size() const { return keep_ ? mapped_.size() : own_.size(); }
  bool empty() const { return size() == 0; }
  const std::uint8_t* begin() const { return data(); }
  const std::uint8_t* end() const { return data() + size(); }
  std::uint8_t operator[](std::size_t k) const { return data()[k]; }
  bool operator==(const ByteTable& other) const { return std::ranges::equal(*this, other); }

  /// Returns the bytes, to be filled.
  std::vector<std::uint8_t>& own() {
    GV_CHECK(!keep_, "mapped bytes are not written");
    return own_;
  }

 private:
  std::vector<std::uint8_t> own_;
  std::span<const std::uint8_t> mapped_;
  std::shared_ptr<const void> keep_;
};

}  // namespace gv

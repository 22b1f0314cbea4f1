#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

/// A vector in touched memory, in huge pages if the system grants them, as Grapevine's regions are:
/// the rivals are measured at their best.
class Floats {
 public:
  explicit Floats(std::size_t count, float value = 0)
      : count_(count), data_(static_cast<float*>(std::aligned_alloc(page, bytes(count)))) {
    if (data_ == nullptr) throw std::bad_alloc();
    madvise(data_, bytes(count), MADV_HUGEPAGE);
    std::fill(begin(), end(), value);
  }
  ~Floats() { std::free(data_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;

  float* data() { return data_; }
  float* begin() { return data_; }
  float* end() { return data_ + count_; }
  std::size_t size() const { return count_; }
  float& operator[](std::size_t i) { return data_[i]; }
  float& back() { return data_[count_ - 1]; }

 private:
  static constexpr std::size_t page = std::size_t{2} << 20;
  static std::size_t bytes(std::size_t count) {
    return (count * sizeof(float) + page - 1) / page * page;
  }
  std::size_t count_;
  float* data_;
};

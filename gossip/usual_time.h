#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "gossip/message.h"

namespace gv {

/// The time that something usually takes: the second longest of the last eight times, so that one
/// that an accident has made long does not count, and short ones between do not hide what is usual.
class UsualTime {
 public:
  void add(Time took) { last_[count_++ % last_.size()] = took; }
  /// 0: nothing is known.
  Time get() const {
    std::array<Time, 8> longest = last_;
    std::ranges::sort(longest, std::greater{});
    return count_ == 1 ? longest[0] : longest[1];
  }

 private:
  std::array<Time, 8> last_{};
  std::size_t count_ = 0;
};

}  // namespace gv

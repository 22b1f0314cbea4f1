#pragma once

#include <utility>

namespace gv {

/// The lines of the log that another program may cause between two heartbeats. The rest is counted.
class LineBudget {
 public:
  static constexpr int most = 5;

  /// Counts one more line, and returns whether it may be said.
  bool spend() { return ++lines_ <= most; }
  /// A new heartbeat begins; how many lines were left out since the last one.
  int renew() {
    const int lines = std::exchange(lines_, 0);
    return lines > most ? lines - most : 0;
  }

 private:
  int lines_ = 0;
};

}  // namespace gv

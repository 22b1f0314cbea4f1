#pragma once

#include "gossip/message.h"

namespace gv {

/// Notices that its process did not run: a beat was due, and did not come in time. What starts the
/// process again (a signal, a machine that wakes) says nothing of how long it stood still.
class Standstill {
 public:
  /// Between two beats, and so late a beat may be: any loop is busy now and then.
  static constexpr Time period{std::chrono::milliseconds(250)};

  explicit Standstill(Time now) : last_(now) {}

  void beat(Time now) {
    before_ = total(now);
    last_ = now;
  }
  /// Until now, what has not ended yet included.
  Time total(Time now) const {
    const Time overdue = now - last_ - period;
    return overdue > period ? before_ + overdue : before_;
  }

 private:
  Time last_;
  Time before_{0};
};

}  // namespace gv

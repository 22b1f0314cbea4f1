#pragma once

#include "gossip/message.h"

namespace gv {

/// Notices that its process did not run: a beat was due, and came later than the loop's own work
/// since the last one explains. What starts a stopped process again (a signal, a machine that
/// wakes), and a processor whose time others have, say nothing of how long it stood still.
class Standstill {
 public:
  /// The time between two beats. It is short beside the stops that hold a fleet up: what of a stop
  /// lies before the next beat was due is not seen.
  static constexpr Time period{std::chrono::milliseconds(10)};
  /// The delay that a beat may have: the kernel lets a process wait for its turn now and then.
  static constexpr Time tolerance{std::chrono::milliseconds(10)};

  explicit Standstill(Time now) : last_(now) {}

  /// `worked`: processor time of the loop's thread so far.
  void beat(Time now, Time worked) {
    before_ = total(now, worked);
    last_ = now;
    worked_ = worked;
  }
  /// Returns how long it stood still until now, what has not ended yet included.
  Time total(Time now, Time worked) const {
    const Time overdue = now - last_ - period - (worked - worked_);
    return overdue > tolerance ? before_ + overdue : before_;
  }

 private:
  Time last_;
  Time worked_{0};
  Time before_{0};
};

}  // namespace gv

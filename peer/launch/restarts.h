#pragma once

#include <optional>

#include "gossip/message.h"

namespace gv {

/// The rule by which a peer that has died is started again. Who dies again and again is started
/// after longer and longer pauses, and then no more; who has lived for a while before begins to
/// count again, however often it has died in a long run.
class Restarts {
 public:
  /// The time after which a peer is not one that dies again and again.
  static constexpr Time a_while{std::chrono::seconds(10)};
  static constexpr int most_in_a_row = 10;

  /// The pause before the next start of a process that has lived for so long; nothing: it has died
  /// too often.
  std::optional<Time> pause_after(Time lived);
  void count() { ++all_; }
  /// Returns the number of restarts in the whole run.
  int all() const { return all_; }

 private:
  int all_ = 0;
  int in_a_row_ = 0;
};

}  // namespace gv

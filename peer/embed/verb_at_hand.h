#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>

#include "gossip/verb.h"
#include "peer/embed/fault.h"

namespace gv::embed {

/// A verb that a program has begun, and whose end comes on the loop.
class VerbAtHand {
 public:
  VerbAtHand(VerbCall call, std::size_t bytes);

  /// Throws Fault (GV_E_USE) where the program goes on with another one.
  void check_same(const VerbCall& call, std::size_t bytes) const;
  void end(VerbEnd end);
  VerbOp op() const { return call_.op; }
  PeerId root() const { return call_.root; }
  std::size_t bytes() const { return bytes_; }
  /// Until the end is here, or for so long.
  void wait(std::chrono::nanoseconds at_most);
  std::optional<VerbEnd> take_end();
  /// Whether it has taken a minute since it began, or since this was last true.
  bool is_slow();

 private:
  const VerbCall call_;
  const std::size_t bytes_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<VerbEnd> end_;
};

/// What gv_verb or gv_wait returns of an end that came; the outcome is in `data`. Throws Fault.
int code_of(const VerbEnd& end, VerbOp op, std::span<std::byte> data);

}  // namespace gv::embed

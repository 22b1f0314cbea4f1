#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "gossip/verb.h"
#include "peer/cli/embed/fault.h"

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
  /// Waits until the end is here, or for so long, or for less.
  void wait(std::chrono::nanoseconds at_most);
  std::optional<VerbEnd> take_end();
  /// Returns whether it has taken a minute since it began, or since this was last true.
  bool is_slow();

 private:
  const VerbCall call_;
  const std::size_t bytes_;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<VerbEnd> end_;
};

/// The end of a wait for a verb; neither: the fleet has stopped before it.
struct Waited {
  bool more = false;
  std::optional<VerbEnd> end{};
};

/// Returns what gv_verb or gv_wait is to return; the outcome is in `data`. Throws Fault: that of
/// the verb, or else `failure`, with which the fleet has stopped.
int code_of(const Waited& waited,
            VerbOp op,
            std::span<std::byte> data,
            const std::optional<Fault>& failure);

/// Makes the verb of a push, which gives nothing back, or of a pull.
std::shared_ptr<VerbAtHand> transfer_at_hand(const VerbCall& call, bool pushes);

/// The pushes and pulls of a program for which it has not waited yet.
class TransfersAtHand {
 public:
  struct Transfer {
    std::shared_ptr<VerbAtHand> verb;
    bool lends = false;
  };
  static constexpr std::size_t most = 1024;

  /// Throws Fault (GV_E_USE) where there are too many for another one.
  void check_room(const char* call) const;
  /// Returns its handle.
  std::uint64_t add(Transfer transfer);
  /// Throws Fault (GV_E_USE) where there is none, or `bytes` are not its own.
  const Transfer& at(std::uint64_t handle, std::size_t bytes) const;
  void erase(std::uint64_t handle) { transfers_.erase(handle); }

 private:
  std::map<std::uint64_t, Transfer> transfers_;
  std::uint64_t last_ = 0;
};

}  // namespace gv::embed

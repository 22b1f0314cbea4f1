#include "peer/embed/verb_at_hand.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "peer/embed/grapevine_program.h"

namespace gv::embed {

VerbAtHand::VerbAtHand(VerbCall call, std::size_t bytes) : call_(std::move(call)), bytes_(bytes) {}

void VerbAtHand::check_same(const VerbCall& call, std::size_t bytes) const {
  const bool same = call.op == call_.op && call.type == call_.type && call.root == call_.root &&
                    call.mark == call_.mark && bytes == bytes_;
  if (!same)
    throw Fault(GV_E_USE,
                "gv_verb: another call was begun and has not ended; the others may have its part");
}

void VerbAtHand::end(VerbEnd end) {
  const std::lock_guard lock(mutex_);
  end_ = std::move(end);
  changed_.notify_all();
}

/// Where the loop ends without it, nobody says so here.
void VerbAtHand::wait(std::chrono::nanoseconds at_most) {
  constexpr std::chrono::nanoseconds look_again = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::min(at_most, look_again), [this] { return end_.has_value(); });
}

std::optional<VerbEnd> VerbAtHand::take_end() {
  const std::lock_guard lock(mutex_);
  return std::exchange(end_, std::nullopt);
}

bool VerbAtHand::is_slow() {
  const auto now = std::chrono::steady_clock::now();
  if (now - said_ < std::chrono::minutes(1)) return false;
  said_ = now;
  return true;
}

int code_of(const VerbEnd& end, std::span<std::byte> data) {
  const auto lost = [&](const char* how) {
    return Fault(
        GV_E_LOST,
        fmt::format(
            "peer {} {}: what all peers do together is not possible without it", end.peer, how));
  };
  switch (end.why) {
    case VerbEnd::Why::done:
      std::ranges::copy(end.data, data.begin());
      return GV_OK;
    case VerbEnd::Why::over:
      return GV_STOPPED;
    case VerbEnd::Why::died:
      throw lost("has died");
    case VerbEnd::Why::left:
      throw lost("has left");
    case VerbEnd::Why::again:
      throw Fault(GV_E_LOST,
                  fmt::format("peer {} was started again, and does not know what all peers have "
                              "done together before",
                              end.peer));
    case VerbEnd::Why::disagrees:
      break;
  }
  throw Fault(GV_E_DISAGREES,
              fmt::format("peer {} makes another call, or one of another type, size, root or "
                          "name\nhelp: all peers make the same calls in the same order",
                          end.peer));
}

}  // namespace gv::embed

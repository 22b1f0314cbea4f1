#include "peer/cli/embed/verb_at_hand.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "peer/cli/embed/grapevine_program.h"

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

/// Looks again now and then: where the loop ends without it, nobody says so here.
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

namespace {

std::string lost_text(const VerbEnd& end, VerbOp op) {
  const bool of_two = op == VerbOp::transfer;
  if (end.why == VerbEnd::Why::again)
    return fmt::format("peer {} was started again, and does not know what {} before",
                       end.peer,
                       of_two ? "was under way between the two" : "all peers have done together");
  return fmt::format("peer {} has {}: {}",
                     end.peer,
                     end.why == VerbEnd::Why::died ? "died" : "left",
                     of_two ? "it neither pushes nor pulls"
                            : "what all peers do together is not possible without it");
}

std::string disagreement_text(const VerbEnd& end, VerbOp op) {
  if (op == VerbOp::transfer)
    return fmt::format(
        "peer {} pushes or pulls another type, size or name\n"
        "help: the nth push to a peer is for its nth pull",
        end.peer);
  return fmt::format(
      "peer {} makes another call, or one of another type, size, root or name\n"
      "help: all peers make the same calls in the same order",
      end.peer);
}

}  // namespace

int code_of(const Waited& waited,
            VerbOp op,
            std::span<std::byte> data,
            const std::optional<Fault>& failure) {
  if (waited.more) return GV_MORE;
  if (!waited.end && failure) throw Fault(*failure);
  if (!waited.end) return GV_STOPPED;
  const VerbEnd& end = *waited.end;
  switch (end.why) {
    case VerbEnd::Why::done:
      std::ranges::copy(end.data, data.begin());
      return GV_OK;
    case VerbEnd::Why::over:
      return GV_STOPPED;
    case VerbEnd::Why::died:
    case VerbEnd::Why::left:
    case VerbEnd::Why::again:
      throw Fault(GV_E_LOST, lost_text(end, op));
    case VerbEnd::Why::disagrees:
      break;
  }
  throw Fault(GV_E_DISAGREES, disagreement_text(end, op));
}

std::shared_ptr<VerbAtHand> transfer_at_hand(const VerbCall& call, bool pushes) {
  return std::make_shared<VerbAtHand>(
      VerbCall{.op = call.op, .type = call.type, .root = call.root, .mark = call.mark},
      pushes ? 0 : call.data.size());
}

void TransfersAtHand::check_room(const char* call) const {
  if (transfers_.size() >= most)
    throw Fault(
        GV_E_USE,
        fmt::format(
            "{}: {} are under way already, and gv_wait ends them", call, transfers_.size()));
}

std::uint64_t TransfersAtHand::add(Transfer transfer) {
  transfers_.emplace(++last_, std::move(transfer));
  return last_;
}

const TransfersAtHand::Transfer& TransfersAtHand::at(std::uint64_t handle,
                                                     std::size_t bytes) const {
  const auto at = transfers_.find(handle);
  if (at == transfers_.end())
    throw Fault(GV_E_USE,
                fmt::format("gv_wait: {} is no handle, or was waited for before", handle));
  if (bytes != at->second.verb->bytes())
    throw Fault(
        GV_E_USE,
        fmt::format(
            "gv_wait: room for {} bytes, and there are {}", bytes, at->second.verb->bytes()));
  return at->second;
}

}  // namespace gv::embed

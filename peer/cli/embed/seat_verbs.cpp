#include <utility>

#include <fmt/format.h>

#include "gossip/transfers.h"
#include "gossip/verbs.h"
#include "peer/cli/embed/program_seat.h"

// What programs of a simulation do together. It happens within their turns, in which the simulator
// stands still, so that a program's thread may begin it; while the program waits, the simulator
// continues.

namespace gv::embed {

/// Sits down, if it has not yet, and waits for its first turn. False: it is not there yet.
bool ProgramSeat::is_in_turn(const char* call, int timeout_ms) {
  if (!begun_) throw Fault(GV_E_USE, fmt::format("{} comes after gv_begin", call));
  if (!std::exchange(sits_, true)) simulation_->sit(seat_, fleet_.id);
  return seat_.turns.wait(time_of(timeout_ms)) != Turn::none;
}

std::function<void(VerbEnd)> ProgramSeat::ends(const std::shared_ptr<VerbAtHand>& verb) {
  return [this, verb](VerbEnd end) {
    verb->end(as_told(std::move(end), seat_.peer->running()));
    if (awaited_ != verb.get()) return;
    awaited_ = nullptr;
    simulation_->go_on_soon(seat_, fleet_.id);
  };
}

/// Touches nothing of the simulator until it is known that this one stands still again.
Waited ProgramSeat::wait_for(VerbAtHand& verb, int timeout_ms) {
  if (!waits_) {
    if (std::optional<VerbEnd> end = verb.take_end()) return {.end = std::move(end)};
    awaited_ = &verb;
    waits_ = true;
  }
  if (!seat_.turns.yield(time_of(timeout_ms))) return {.more = true};
  waits_ = false;
  return {.end = verb.take_end()};
}

int ProgramSeat::verb(const gv_call& said, std::span<std::byte> data, int timeout_ms) {
  if (!is_peer()) return Program::verb(said, data, timeout_ms);
  const VerbCall call = verb_call_of(said);
  if (!verb_) {
    if (!is_in_turn("gv_verb", timeout_ms)) return GV_MORE;
    if (seat_.peer == nullptr || simulation_->over(std::chrono::nanoseconds(0)))
      return code_of(Waited{}, call.op, data, simulation_->failure());
    VerbCall whole = call;
    whole.data.assign(data.begin(), data.end());
    if (const std::string why = seat_.peer->verbs().objection(whole); !why.empty())
      throw Fault(GV_E_USE, "gv_verb: " + why);
    verb_ = std::make_shared<VerbAtHand>(call, data.size());
    seat_.peer->verbs().begin(std::move(whole), ends(verb_));
  }
  verb_->check_same(call, data.size());
  const Waited waited = wait_for(*verb_, timeout_ms);
  if (!waited.more) verb_.reset();
  return code_of(waited, call.op, data, simulation_->failure());
}

std::uint64_t ProgramSeat::push(const gv_call& said, std::vector<std::byte> data) {
  if (!is_peer()) return Program::push(said, std::move(data));
  return begin_transfer(push_of(said, std::move(data)), true);
}

std::uint64_t ProgramSeat::pull(const gv_call& said, std::size_t bytes) {
  if (!is_peer()) return Program::pull(said, bytes);
  return begin_transfer(pull_of(said, bytes), false);
}

std::uint64_t ProgramSeat::begin_transfer(VerbCall call, bool pushes) {
  const char* const name = pushes ? "gv_push" : "gv_pull";
  transfers_.check_room(name);
  is_in_turn(name, -1);
  const auto verb = transfer_at_hand(call, pushes);
  if (seat_.peer == nullptr || simulation_->over(std::chrono::nanoseconds(0))) {
    verb->end({.why = VerbEnd::Why::over});
    return transfers_.add({verb});
  }
  if (const std::string why = seat_.peer->transfers().objection(call); !why.empty())
    throw Fault(GV_E_USE, fmt::format("{}: {}", name, why));
  Transfers& transfers = seat_.peer->transfers();
  pushes ? transfers.push(std::move(call), ends(verb))
         : transfers.pull(std::move(call), ends(verb));
  return transfers_.add({verb});
}

int ProgramSeat::wait(std::uint64_t handle, std::span<std::byte> data, int timeout_ms) {
  if (!is_peer()) return Program::wait(handle, data, timeout_ms);
  const TransfersAtHand::Transfer transfer = transfers_.at(handle, data.size());
  const Waited waited = wait_for(*transfer.verb, timeout_ms);
  if (!waited.more) transfers_.erase(handle);
  return code_of(waited, VerbOp::transfer, data, simulation_->failure());
}

}  // namespace gv::embed

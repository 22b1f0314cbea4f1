#include "peer/cli/embed/program/program_virtual_peer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/embed/calls/fault.h"
#include "peer/cli/embed/calls/program_tensors.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/cli/embed/program/program.h"

namespace gv::embed {

VerbAtHand::VerbAtHand(VerbCall call, std::size_t bytes) : call_(std::move(call)), bytes_(bytes) {}

void VerbAtHand::check_same(const VerbCall& call, std::size_t bytes) const {
  const bool same = call.op == call_.op && call.type == call_.type && call.root == call_.root &&
                    call.mark == call_.mark && bytes == bytes_;
  if (!same)
    throw Fault(
        GV_E_USE,
        "gv_verb: another call has begun and not ended; other peers may have received its data");
}

void VerbAtHand::end(VerbEnd end) {
  const std::lock_guard lock(mutex_);
  end_ = std::move(end);
  changed_.notify_all();
}

/// Returns early now and then, because the loop may end without a notification.
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

/// The first steps are slower: memory is touched, and libraries choose their algorithms.
constexpr std::uint32_t warm_up_steps = 3;
constexpr std::uint32_t measured_steps = 20;

/// A program that trains alone for some steps, to be timed; its tensors are not used elsewhere.
class MeasuredProgram : public Program {
 public:
  MeasuredProgram(OpenWords words, std::function<void(double seconds_per_step)> tell)
      : Program(std::move(words)),
        tell_(std::move(tell)),
        watch_(fleet_.outline->algorithm->program.turns) {}

  std::uint16_t attach(std::span<const gv_tensor> tensors, const AttachWords& words) override;
  void begin(const char*) override {}
  Turn turn(const gv_told* done, int timeout_ms) override;
  void point(int, std::span<void* const> data) override { segments_at(data, tensors_); }
  void forget_gradients() override {}
  void give_state(std::span<const char>) override {}
  void say(const SayWords&) override {}
  bool finish(int) override { return true; }
  void end_turn() override { watch_.ended(std::exchange(at_hand_, Turn::none)); }
  std::vector<int> pause() override { return {}; }
  void go_on() override {}

 private:
  std::function<void(double)> tell_;
  ProgramTensors tensors_;
  StepWatch watch_;
  Turn at_hand_ = Turn::none;
};

std::uint16_t MeasuredProgram::attach(std::span<const gv_tensor> tensors, const AttachWords&) {
  tensors_ = read_tensors(tensors);
  state_.attached = true;
  return 0;
}

Turn MeasuredProgram::turn(const gv_told* done, int) {
  if (!state_.attached) throw Fault(GV_E_USE, "gv_turn comes after gv_attach");
  if (done != nullptr) check_told(*done);
  if (done != nullptr && at_hand_ != Turn::over) end_turn();
  if (at_hand_ == Turn::none) at_hand_ = watch_.next();
  if (at_hand_ == Turn::over && tell_) std::exchange(tell_, nullptr)(watch_.seconds_per_step());
  return at_hand_;
}

std::string lost_text(const VerbEnd& end, VerbOp op) {
  const bool of_two = op == VerbOp::transfer;
  if (end.why == VerbEnd::Why::again)
    return fmt::format("peer {} was started again, and does not know what {} before", end.peer,
                       of_two ? "was under way between the two" : "all peers have done together");
  return fmt::format("peer {} has {}: {}", end.peer,
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

Turn StepWatch::next() {
  if (steps_next_) return Turn::step;
  if (steps_ == warm_up_steps && began_ == Clock::time_point{}) began_ = Clock::now();
  if (steps_ < warm_up_steps + measured_steps)
    return turns_ == ProgramUse::Turns::gradient_and_step ? Turn::gradient_and_step
                                                          : Turn::gradient;
  const std::chrono::duration<double> took = Clock::now() - began_;
  if (seconds_per_step_ == 0) seconds_per_step_ = took.count() / measured_steps;
  return Turn::over;
}

void StepWatch::ended(Turn turn) {
  const bool gradient_alone = turns_ == ProgramUse::Turns::gradient;
  steps_next_ = turn == Turn::gradient && !gradient_alone;
  const bool is_step = turn == Turn::step || turn == Turn::gradient_and_step;
  if (is_step || (turn == Turn::gradient && gradient_alone)) ++steps_;
}

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
    throw Fault(GV_E_USE, fmt::format("{}: {} are under way already, and gv_wait ends them", call,
                                      transfers_.size()));
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
    throw Fault(GV_E_USE, fmt::format("gv_wait: room for {} bytes, and there are {}", bytes,
                                      at->second.verb->bytes()));
  return at->second;
}

std::chrono::nanoseconds time_of(int timeout_ms) {
  if (timeout_ms < 0) return std::chrono::hours(24 * 365);
  return std::chrono::milliseconds(timeout_ms);
}

ProgramSeat::ProgramSeat(OpenWords words, std::shared_ptr<ProgramSimulation> simulation)
    : Program(std::move(words)), simulation_(std::move(simulation)) {
  checks_.method = fleet_.outline->algorithm;
}

ProgramSeat::~ProgramSeat() {
  if (!state_.attached || simulation_->over(std::chrono::nanoseconds(0))) return;
  simulation_->abandon();
  simulation_->over(time_of(-1));
}

std::uint16_t ProgramSeat::attach(std::span<const gv_tensor> tensors, const AttachWords& words) {
  if (state_.attached) throw Fault(GV_E_USE, "gv_attach: in a simulation it is called once");
  peer_.tensors = read_tensors(tensors);
  peer_.turns.evaluates = words.evaluates;
  simulation_->attach(peer_, is_peer() ? std::optional(fleet_.id) : std::nullopt);
  state_ = {.attached = true,
            .parameters = peer_.tensors.x.size(),
            .start = digest_of(peer_.tensors),
            .model = gv::digest_of(peer_.tensors.model)};
  return 0;
}

void ProgramSeat::begin(const char* addresses) {
  if (!state_.attached) throw Fault(GV_E_USE, "gv_begin comes after gv_attach");
  if (addresses != nullptr || begun_)
    throw Fault(GV_E_USE, "gv_begin: in a simulation no peer has an address; give NULL, once");
  begun_ = true;
}

void ProgramSeat::end_turn_at_hand(const gv_told& told) {
  checks_.end(told, peer_.turns.given());
  peer_.turns.done(told_of(told));
}

Turn ProgramSeat::turn(const gv_told* done, int timeout_ms) {
  if (!begun_) throw Fault(GV_E_USE, "gv_turn comes after gv_begin");
  if (done != nullptr) end_turn_at_hand(*done);
  if (is_peer() && !std::exchange(sits_, true)) simulation_->sit(peer_, fleet_.id);
  const Turn turn = peer_.turns.wait(time_of(timeout_ms));
  if (turn == Turn::over) {
    if (const std::optional<Fault> failure = simulation_->failure()) throw Fault(*failure);
    if (peer_.left_by) left_by_ = *peer_.left_by;
  } else if (turn != Turn::none && peer_.peer != nullptr) {
    round_ = peer_.peer->round;
  }
  return turn;
}

/// Checks that the simulator pauses in a turn: only then may the replica be changed.
void ProgramSeat::check_in_turn() const {
  if (peer_.replica == nullptr || peer_.turns.at_hand() == Turn::none)
    throw Fault(GV_E_USE, "gv_point: no turn is in progress");
}

void ProgramSeat::point(int what, std::span<void* const> data) {
  Segments pieces = segments_at(data, peer_.tensors);
  if (what == GV_POINT_GRADIENTS) {
    check_in_turn();
    peer_.replica->point_gradients(std::move(pieces));
    checks_.pointed = true;
    return;
  }
  if (!is_peer() || !begun_) {
    peer_.tensors.x = std::move(pieces);
  } else {
    check_in_turn();
    peer_.replica->point_parameters(std::move(pieces));
  }
}

void ProgramSeat::forget_gradients() {
  check_in_turn();
  peer_.replica->forget_gradients();
  checks_.pointed = true;
}

void ProgramSeat::give_state(std::span<const char>) {
  throw Fault(GV_E_USE, "gv_state: a simulation keeps no checkpoint");
}

void ProgramSeat::say(const SayWords& words) {
  if (!words.text.empty()) log(printable(words.text, words.text.size()));
  if (words.stop) peer_.leaves = stopping_ = true;
}

/// Waits for the end of the simulation, which uses the tensors until then.
bool ProgramSeat::finish(int timeout_ms) {
  if (!begun_) return true;
  if (is_peer() && !sits_) simulation_->abandon();  // no other will get
  if (!peer_.leaves.exchange(true) && peer_.turns.at_hand() != Turn::none && peer_.replica)
    peer_.replica->forget_gradients();
  peer_.turns.close();
  if (!simulation_->over(time_of(timeout_ms))) return false;
  if (const std::optional<Fault> failure = simulation_->failure()) throw Fault(*failure);
  return true;
}

void ProgramSeat::end_turn() {
  peer_.turns.done({});
}

std::unique_ptr<Program> make_virtual_peer(const std::shared_ptr<ProgramSimulation>& simulation,
                                           const VirtualPeerWords& words) {
  OpenWords open = simulation->words();
  open.id = words.id;
  open.task = words.task;
  if (words.task != ProgramTask::measure)
    return std::make_unique<ProgramSeat>(std::move(open), simulation);
  return std::make_unique<MeasuredProgram>(
      std::move(open), [simulation](double seconds) { simulation->measured(seconds); });
}

}  // namespace gv::embed

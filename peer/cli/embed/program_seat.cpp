#include "peer/cli/embed/program_seat.h"

#include <chrono>
#include <utility>

#include "optim/printable.h"
#include "peer/cli/embed/measured_program.h"

namespace gv::embed {

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
  seat_.tensors = read_tensors(tensors);
  seat_.turns.evaluates = words.evaluates;
  simulation_->attach(seat_, is_peer() ? std::optional(fleet_.id) : std::nullopt);
  state_ = {.attached = true,
            .parameters = seat_.tensors.x.size(),
            .start = digest_of(seat_.tensors),
            .model = gv::digest_of(seat_.tensors.model)};
  return 0;
}

void ProgramSeat::begin(const char* addresses) {
  if (!state_.attached) throw Fault(GV_E_USE, "gv_begin comes after gv_attach");
  if (addresses != nullptr || begun_)
    throw Fault(GV_E_USE, "gv_begin: in a simulation nobody has an address; give NULL, once");
  begun_ = true;
}

void ProgramSeat::end_turn_at_hand(const gv_told& told) {
  checks_.end(told, seat_.turns.given());
  seat_.turns.done(told_of(told));
}

Turn ProgramSeat::turn(const gv_told* done, int timeout_ms) {
  if (!begun_) throw Fault(GV_E_USE, "gv_turn comes after gv_begin");
  if (done != nullptr) end_turn_at_hand(*done);
  if (is_peer() && !std::exchange(sits_, true)) simulation_->sit(seat_, fleet_.id);
  const Turn turn = seat_.turns.wait(time_of(timeout_ms));
  if (turn == Turn::over) {
    if (const std::optional<Fault> failure = simulation_->failure()) throw Fault(*failure);
  } else if (turn != Turn::none && seat_.peer != nullptr) {
    round_ = seat_.peer->round;
  }
  return turn;
}

/// Lets the replica be touched in a turn alone, when the simulator stands still.
void ProgramSeat::check_in_turn() const {
  if (seat_.replica == nullptr || seat_.turns.at_hand() == Turn::none)
    throw Fault(GV_E_USE, "gv_point: no turn is at hand");
}

void ProgramSeat::point(int what, std::span<void* const> data) {
  Segments pieces = segments_at(data, seat_.tensors);
  if (what == GV_POINT_GRADIENTS) {
    check_in_turn();
    seat_.replica->point_gradients(std::move(pieces));
    checks_.pointed = true;
    return;
  }
  if (!is_peer() || !begun_) {
    seat_.tensors.x = std::move(pieces);
  } else {
    check_in_turn();
    seat_.replica->point_parameters(std::move(pieces));
  }
}

void ProgramSeat::forget_gradients() {
  check_in_turn();
  seat_.replica->forget_gradients();
  checks_.pointed = true;
}

void ProgramSeat::give_state(std::span<const char>) {
  throw Fault(GV_E_USE, "gv_state: a simulation keeps no checkpoint");
}

void ProgramSeat::say(const SayWords& words) {
  if (!words.text.empty()) log(printable(words.text, words.text.size()));
  if (words.stop) seat_.leaves = stopping_ = true;
}

/// Its tensors are the simulator's until all of it is over.
bool ProgramSeat::finish(int timeout_ms) {
  if (!begun_) return true;
  if (is_peer() && !sits_) simulation_->abandon();  // nobody else will get a turn without it
  if (!seat_.leaves.exchange(true) && seat_.turns.at_hand() != Turn::none && seat_.replica)
    seat_.replica->forget_gradients();
  seat_.turns.close();
  if (!simulation_->over(time_of(timeout_ms))) return false;
  if (const std::optional<Fault> failure = simulation_->failure()) throw Fault(*failure);
  return true;
}

void ProgramSeat::end_turn() {
  seat_.turns.done({});
}

std::unique_ptr<Program> make_seat(const std::shared_ptr<ProgramSimulation>& simulation,
                                   const SeatWords& words) {
  OpenWords open = simulation->words();
  open.id = words.id;
  open.task = words.task;
  if (words.task != ProgramTask::measure)
    return std::make_unique<ProgramSeat>(std::move(open), simulation);
  return std::make_unique<MeasuredProgram>(
      std::move(open), [simulation](double seconds) { simulation->measured(seconds); });
}

}  // namespace gv::embed

#include "peer/cli/embed/program_peer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/cli/embed/descriptors.h"

namespace gv::embed {
namespace {

using Clock = std::chrono::steady_clock;

/// Negative milliseconds: without end, as far as anybody can wait.
Clock::time_point deadline_of(int timeout_ms) {
  if (timeout_ms < 0) return Clock::now() + std::chrono::hours(24 * 365);
  return Clock::now() + std::chrono::milliseconds(timeout_ms);
}

std::chrono::nanoseconds left(Clock::time_point until) {
  return std::max<std::chrono::nanoseconds>(until - Clock::now(), std::chrono::nanoseconds(0));
}

}  // namespace

ProgramPeer::ProgramPeer(OpenWords words) : Program(std::move(words)) {
  checks_.method = fleet_.outline->algorithm;
  if (!words_.folder.empty()) kept_ = std::make_unique<ProgramLog>(words_.folder);
  if (!words_.control) return;
  line_ = std::make_unique<LauncherLine>(launchers_descriptors);
  keep_from_children(launchers_descriptors);
}

/// The watch on the launcher uses the life, and is made by its thread.
ProgramPeer::~ProgramPeer() {
  closing_ = true;
  if (life_) life_->die();
  launcher_.reset();
  life_.reset();
}

void ProgramPeer::check_attached(const char* call) const {
  if (!life_) throw Fault(GV_E_USE, fmt::format("{} comes after gv_attach", call));
}

void ProgramPeer::end_turn_at_hand(const gv_told& told) {
  checks_.end(told, turns_.given());
  hands_->done(told_of(told));
}

Turn ProgramPeer::turn(const gv_told* done, int timeout_ms) {
  check_attached("gv_turn");
  if (!life_->has_begun()) throw Fault(GV_E_USE, "gv_turn comes after gv_begin");
  if (done != nullptr) end_turn_at_hand(*done);
  const Clock::time_point until = deadline_of(timeout_ms);
  Turn turn = hands_->wait(left(until));
  while (turn == Turn::none && Clock::now() < until) turn = hands_->wait(left(until));
  return given(turn);
}

/// Notes the round: while the program has a turn, the loop waits for it, and the round stays.
Turn ProgramPeer::given(Turn turn) {
  if (turn == Turn::over) {
    round_ = life_->rounds();
    if (const std::optional<Fault> failure = life_->failure()) throw Fault(*failure);
  } else if (turn != Turn::none) {
    life_->with([this](TcpPeer& peer) { round_ = peer.round(); });
  }
  return turn;
}

void ProgramPeer::end_turn() {
  if (hands_) hands_->done({});
}

void ProgramPeer::point(int what, std::span<void* const> data) {
  check_attached("gv_point");
  if (!hands_->rests() && life_->has_begun()) throw Fault(GV_E_USE, "gv_point: no turn is at hand");
  Segments pieces = segments_at(data, tensors_);
  life_->with([&](TcpPeer&) {
    what == GV_POINT_PARAMETERS ? replica_->point_parameters(std::move(pieces))
                                : replica_->point_gradients(std::move(pieces));
  });
  checks_.pointed = checks_.pointed || what == GV_POINT_GRADIENTS;
}

void ProgramPeer::forget_gradients() {
  check_attached("gv_point");
  life_->with([this](TcpPeer&) { replica_->forget_gradients(); });
  checks_.pointed = true;
}

void ProgramPeer::give_state(std::span<const char> bytes) {
  check_attached("gv_state");
  if (turns_.at_hand() != Turn::save)
    throw Fault(GV_E_USE, "gv_state: the state is given in GV_TURN_SAVE");
  Told told;
  told.state = std::make_shared<const std::string>(bytes.begin(), bytes.end());
  turns_.tell(told);
}

void ProgramPeer::say(const SayWords& words) {
  if (kept_ && (!words.log.empty() || !words.figures.empty())) kept_->keep(round_, words);
  if (!words.text.empty()) log(printable(words.text, words.text.size()));
  if (!words.stop) return;
  check_attached("gv_say with `stop`");
  stopping_ = true;
  life_->with([](TcpPeer& peer) { peer.stop(); });
}

/// No job may read the program's gradients when they are forgotten.
bool ProgramPeer::finish(int timeout_ms) {
  if (!life_ || !life_->has_begun()) return true;
  const Clock::time_point until = deadline_of(timeout_ms);
  while (!finishing_ && !hands_->rests() && !life_->over(std::chrono::nanoseconds(0))) {
    if (Clock::now() >= until) return false;
    hands_->wait(left(until));
  }
  if (!std::exchange(finishing_, true)) {
    life_->with([this](TcpPeer& peer) {
      replica_->forget_gradients();
      peer.stop();
    });
    hands_->close();
  }
  while (hands_->wait(left(until)) != Turn::over)
    if (Clock::now() >= until) return false;
  if (!life_->over(left(until))) return false;
  if (const std::optional<Fault> failure = life_->failure()) throw Fault(*failure);
  return true;
}

std::vector<int> ProgramPeer::pause() {
  std::vector<int> all = life_ ? life_->pause() : std::vector<int>{};
  if (!line_) return all;
  const LauncherLine::Descriptors& own = launchers_descriptors;
  all.insert(all.end(), {own.ear, own.mouth, own.vectors});
  return all;
}

void ProgramPeer::go_on() {
  if (life_) life_->go_on();
}

}  // namespace gv::embed

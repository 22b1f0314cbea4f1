#include "peer/cli/embed/program/program_peer.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "gossip/verbs/verb.h"
#include "optim/error_text.h"
#include "optim/printable.h"
#include "peer/cli/embed/calls/fault.h"
#include "peer/cli/embed/grapevine_program.h"
#include "peer/fleet/json/json.h"
#include "peer/launch/agent/facts/interfaces.h"
#include "peer/launch/manual/address_pattern.h"

namespace gv::embed {
namespace {

/// Milliseconds in which a peer must leave when its launcher has exited, before it is ended.
constexpr int orphan_deadline_ms = 4000;

Json numbers_of(const std::vector<std::pair<std::string, double>>& numbers) {
  Json all = Json::object();
  for (const auto& [name, number] : numbers) all[name] = number;
  return all;
}

using Clock = std::chrono::steady_clock;

/// Negative milliseconds mean no limit, in practice a year.
Clock::time_point deadline_of(int timeout_ms) {
  if (timeout_ms < 0) return Clock::now() + std::chrono::hours(24 * 365);
  return Clock::now() + std::chrono::milliseconds(timeout_ms);
}

std::chrono::nanoseconds left(Clock::time_point until) {
  return std::max<std::chrono::nanoseconds>(until - Clock::now(), std::chrono::nanoseconds(0));
}

/// Hashes a name by FNV-1a; 0 means no name.
std::uint64_t mark_of(const char* name) {
  if (name == nullptr || *name == '\0') return 0;
  std::uint64_t mark = 0xcbf29ce484222325;
  for (const char letter : std::string_view(name))
    mark = (mark ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return mark == 0 ? 1 : mark;
}

void check_call(const gv_call& call, const char* name) {
  if (call.size != sizeof(gv_call))
    throw Fault(GV_E_USE, fmt::format("{}: gv_call has {} bytes, and this library's has {}", name,
                                      call.size, sizeof(gv_call)));
  if (call.lends > 1) throw Fault(GV_E_USE, fmt::format("{}: gv_call.lends is 0 or 1", name));
  if (call.type > GV_TYPE_INT64)
    throw Fault(GV_E_USE, fmt::format("{}: there is no type {}", name, call.type));
}

}  // namespace

// The ways in which a program's peer finds the others: by hand, or by its launcher.

std::vector<PeerAddress> ProgramPeer::addresses_of(const char* json) const {
  std::vector<PeerAddress> all =
      json != nullptr     ? address_words(json)
      : words_.at.empty() ? manual_addresses(fleet_.fleet)
                          : parse_address_pattern(words_.at).addresses(fleet_.fleet.size());
  if (life_->has_begun()) return all;
  for (const PeerId link : links_of(assembly_->plan(fleet_.id)))
    if (std::ranges::find(all, link, &PeerAddress::peer) == all.end())
      throw Fault(GV_E_USE,
                  fmt::format("gv_begin: peer {} is a neighbour of peer {}, and no address says "
                              "where it is",
                              link, fleet_.id));
  return all;
}

void ProgramPeer::begin(const char* addresses) {
  check_attached("gv_begin");
  if (line_) {
    if (addresses != nullptr || life_->has_begun())
      throw Fault(GV_E_USE, "gv_begin: the launcher gives the others' addresses; give NULL, once");
    return life_->begin([this](TcpPeer& peer) { return meet_launcher(peer); });
  }
  if (addresses == nullptr && !words_.meet.empty()) {
    if (life_->has_begun())
      throw Fault(GV_E_USE, "gv_begin: the peers have met; give addresses of those that moved");
    return life_->begin([this](TcpPeer&) { return meet_in_folder(); });
  }
  const std::vector<PeerAddress> all = addresses_of(addresses);
  if (!life_->has_begun()) return life_->begin([all](TcpPeer&) { return all; });
  life_->with([&](TcpPeer& peer) {
    for (const PeerAddress& address : all) peer.readdress(address);
  });
}

/// Waits until the neighbours have come or the peer is closed; all this is on the life's thread.
ProgramLife::Addresses ProgramPeer::meet_in_folder() const {
  using Clock = std::chrono::steady_clock;
  Rendezvous meeting(*assembly_, fleet_.id, words_.meet);
  meeting.announce(state_.port);
  std::vector<PeerId> missing = links_of(assembly_->plan(fleet_.id));
  std::vector<PeerAddress> all;
  const Clock::time_point until =
      Clock::now() +
      std::chrono::duration_cast<Time>(std::chrono::duration<double>(words_.wait_seconds));
  while (!closing_) {
    for (const PeerAddress& address : meeting.changed()) {
      std::erase(missing, address.peer);
      all.push_back(address);
    }
    if (missing.empty()) return all;
    if (Clock::now() >= until)
      throw Fault(GV_E_LOST,
                  fmt::format("peers {} have not come to {} in {:g} s", fmt::join(missing, ", "),
                              words_.meet, words_.wait_seconds));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

ProgramLife::Addresses ProgramPeer::meet_launcher(TcpPeer& peer) {
  line_->say(control::line(control::Listening{state_.port}));
  const auto all = line_->hear_addresses(peer, [this] { return launcher_speaks(); });
  if (!all || all->empty()) return {};
  launcher_ = std::make_unique<WatchThread>(
      launchers_descriptors.ear, [this](const WatchThread& watch) { return heed_launcher(watch); });
  return all;
}

/// Waits for a message of the launcher, or until the peer is closed.
bool ProgramPeer::launcher_speaks() const {
  while (!closing_) {
    pollfd ear{launchers_descriptors.ear, POLLIN, 0};
    if (::poll(&ear, 1, 100) > 0) return true;
  }
  return false;
}

/// Reads the launcher's messages. When the launcher is gone no process reads reports, so a peer
/// that cannot leave in time exits. A peer whose program has closed the descriptor exits too,
/// because it would never receive the order to stop.
bool ProgramPeer::heed_launcher(const WatchThread& watch) {
  const auto end = [&](const char* why) {
    life_->with([&](TcpPeer& peer) { peer.abandon(); });
    life_->fail({GV_E_LOST, why});
    return false;
  };
  if (::fcntl(launchers_descriptors.ear, F_GETFD) < 0)
    return end("the program has closed descriptor 4, which its launcher writes to");
  bool there = false;
  life_->with([&](TcpPeer& peer) { there = line_->hear(peer); });
  if (there) return true;
  stopping_ = true;
  if (!watch.pause(orphan_deadline_ms)) return false;
  return end("the launcher has gone");
}

void ProgramLog::keep(Round round, const SayWords& words) {
  Json line{{"round", round}};
  if (!words.log.empty()) line["log"] = numbers_of(words.log);
  if (!words.figures.empty()) line["figures"] = numbers_of(words.figures);
  const std::lock_guard lock(mutex_);
  std::ofstream file(path_, std::ios::app);
  file << line.dump() << '\n';
  file.close();
  if (!file) throw Fault(GV_E_FAILED, fmt::format("{}: {}", path_, error_text(errno)));
}

ProgramPeer::ProgramPeer(OpenWords words) : Program(std::move(words)) {
  checks_.method = fleet_.outline->algorithm;
  if (!words_.folder.empty()) kept_ = std::make_unique<ProgramLog>(words_.folder);
  if (!words_.control) return;
  line_ = std::make_unique<LauncherLine>(launchers_descriptors);
  keep_from_children(launchers_descriptors);
}

/// Ends the life first: its thread makes the watch on the launcher, which uses the life.
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
  source_->done(told_of(told));
}

Turn ProgramPeer::turn(const gv_told* done, int timeout_ms) {
  check_attached("gv_turn");
  if (!life_->has_begun()) throw Fault(GV_E_USE, "gv_turn comes after gv_begin");
  if (done != nullptr) end_turn_at_hand(*done);
  const Clock::time_point until = deadline_of(timeout_ms);
  Turn turn = source_->wait(left(until));
  while (turn == Turn::none && Clock::now() < until) turn = source_->wait(left(until));
  return given(turn);
}

/// Stores the round, which cannot change while the program has a turn, because the loop waits.
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
  if (source_) source_->done({});
}

void ProgramPeer::point(int what, std::span<void* const> data) {
  check_attached("gv_point");
  if (!source_->rests() && life_->has_begun())
    throw Fault(GV_E_USE, "gv_point: no turn is in progress");
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
    throw Fault(GV_E_USE, "gv_state may be called only in GV_TURN_SAVE");
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

/// Waits until no job reads the program's gradients before they are forgotten.
bool ProgramPeer::finish(int timeout_ms) {
  if (!life_ || !life_->has_begun()) return true;
  const Clock::time_point until = deadline_of(timeout_ms);
  while (!finishing_ && !source_->rests() && !life_->over(std::chrono::nanoseconds(0))) {
    if (Clock::now() >= until) return false;
    source_->wait(left(until));
  }
  if (!std::exchange(finishing_, true)) {
    life_->with([this](TcpPeer& peer) {
      replica_->forget_gradients();
      peer.stop();
    });
    source_->close();
  }
  while (source_->wait(left(until)) != Turn::over)
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

// Pushes and pulls of a program's peer.

VerbCall push_of(const gv_call& said, std::vector<std::byte> data) {
  VerbCall call = transfer_of(said, "gv_push");
  call.data = std::move(data);
  return call;
}

VerbCall pull_of(const gv_call& said, std::size_t bytes) {
  VerbCall call = transfer_of(said, "gv_pull");
  if (bytes > most_verb_bytes) throw Fault(GV_E_USE, fmt::format("gv_pull: {} bytes", bytes));
  call.data.resize(bytes);
  return call;
}

std::uint64_t ProgramPeer::push(const gv_call& said, std::vector<std::byte> data) {
  return begin_transfer(push_of(said, std::move(data)), true, said.lends == 1);
}

std::uint64_t ProgramPeer::pull(const gv_call& said, std::size_t bytes) {
  return begin_transfer(pull_of(said, bytes), false, said.lends == 1);
}

std::uint64_t ProgramPeer::begin_transfer(VerbCall call, bool pushes, bool lends) {
  const char* const name = pushes ? "gv_push" : "gv_pull";
  check_attached(name);
  if (!life_->has_begun()) throw Fault(GV_E_USE, fmt::format("{} comes after gv_begin", name));
  transfers_.check_room(name);
  std::string why;
  life_->with([&](TcpPeer& peer) { why = peer.objection_to(call); });
  if (!why.empty()) throw Fault(GV_E_USE, fmt::format("{}: {}", name, why));
  const auto verb = transfer_at_hand(call, pushes);
  const auto ended = [this, verb](VerbEnd end) {
    verb->end(std::move(end));
    source_->interrupt();
  };
  life_->with([&](TcpPeer& peer) {
    pushes ? peer.push(std::move(call), ended) : peer.pull(std::move(call), ended);
  });
  return transfers_.add({verb, lends});
}

int ProgramPeer::wait(std::uint64_t handle, std::span<std::byte> data, int timeout_ms) {
  check_attached("gv_wait");
  const TransfersAtHand::Transfer transfer = transfers_.at(handle, data.size());
  const Waited waited = wait_for(*transfer.verb, transfer.lends, timeout_ms);
  if (!waited.more) transfers_.erase(handle);
  return code_of(waited, VerbOp::transfer, data, life_->failure());
}

// Verbs of a program's peer with all others.

VerbCall verb_call_of(const gv_call& call) {
  check_call(call, "gv_verb");
  if (call.verb > GV_VERB_NEIGHBOR_AVERAGE)
    throw Fault(GV_E_USE, fmt::format("gv_verb: there is no verb {}", call.verb));
  return {.op = static_cast<VerbOp>(call.verb),
          .type = static_cast<VerbType>(call.type),
          .root = call.root,
          .mark = mark_of(call.name)};
}

VerbCall transfer_of(const gv_call& call, const char* name) {
  check_call(call, name);
  return {.op = VerbOp::transfer,
          .type = static_cast<VerbType>(call.type),
          .root = call.root,
          .mark = mark_of(call.name)};
}

void ProgramPeer::begin_verb(const VerbCall& call, std::span<std::byte> data) {
  VerbCall whole = call;
  whole.data.assign(data.begin(), data.end());
  std::string why;
  life_->with([&](TcpPeer& peer) { why = peer.objection_to(whole); });
  if (!why.empty()) throw Fault(GV_E_USE, "gv_verb: " + why);
  verb_ = std::make_shared<VerbAtHand>(call, data.size());
  const auto ended = [this, verb = verb_](VerbEnd end) {
    verb->end(std::move(end));
    source_->interrupt();
  };
  life_->with([&](TcpPeer& peer) { peer.together(std::move(whole), ended); });
}

/// Waits for a verb. The loop ends before it if the fleet has stopped or something has failed.
Waited ProgramPeer::wait_for(VerbAtHand& verb, bool lends, int timeout_ms) {
  const Clock::time_point until = deadline_of(timeout_ms);
  for (;;) {
    const bool over = life_->over(std::chrono::nanoseconds(0));
    if (std::optional<VerbEnd> end = verb.take_end()) return {.end = std::move(end)};
    if (over) return {};
    const auto left = until - Clock::now();
    if (left <= std::chrono::nanoseconds(0)) return {.more = true};
    lends ? source_->help(left) : verb.wait(left);
    if (verb.is_slow()) tell_who_is_missing(verb);
  }
}

int ProgramPeer::verb(const gv_call& said, std::span<std::byte> data, int timeout_ms) {
  check_attached("gv_verb");
  if (!life_->has_begun()) throw Fault(GV_E_USE, "gv_verb comes after gv_begin");
  const VerbCall call = verb_call_of(said);
  if (verb_)
    verb_->check_same(call, data.size());
  else
    begin_verb(call, data);
  const Waited waited = wait_for(*verb_, said.lends == 1, timeout_ms);
  if (!waited.more) verb_.reset();
  return code_of(waited, call.op, data, life_->failure());
}

void ProgramPeer::tell_who_is_missing(const VerbAtHand& verb) {
  if (verb.op() == VerbOp::transfer)
    return log(fmt::format("waits for peer {} to push to it, or to pull from it", verb.root()));
  life_->with([this](TcpPeer& peer) {
    peer.ask_missing([this](const std::vector<PeerId>& missing) {
      if (!missing.empty())
        log(
            fmt::format("waits in a call that all peers make together for {} {}: every script must "
                        "make it equally often",
                        missing.size() == 1 ? "peer" : "peers", fmt::join(missing, ", ")));
    });
  });
}

}  // namespace gv::embed

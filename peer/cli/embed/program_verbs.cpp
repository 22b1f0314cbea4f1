#include <chrono>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/cli/embed/program_peer.h"

// What a program's peer does together with all others.

namespace gv::embed {
namespace {

using Clock = std::chrono::steady_clock;

/// FNV-1a; 0 is no name.
std::uint64_t mark_of(const char* name) {
  if (name == nullptr || *name == '\0') return 0;
  std::uint64_t mark = 0xcbf29ce484222325;
  for (const char letter : std::string_view(name))
    mark = (mark ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return mark == 0 ? 1 : mark;
}

void check_call(const gv_call& call, const char* name) {
  if (call.size != sizeof(gv_call))
    throw Fault(GV_E_USE,
                fmt::format("{}: gv_call has {} bytes, and this library's has {}",
                            name,
                            call.size,
                            sizeof(gv_call)));
  if (call.lends > 1) throw Fault(GV_E_USE, fmt::format("{}: gv_call.lends is 0 or 1", name));
  if (call.type > GV_TYPE_INT64)
    throw Fault(GV_E_USE, fmt::format("{}: there is no type {}", name, call.type));
}

}  // namespace

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
    hands_->interrupt();
  };
  life_->with([&](TcpPeer& peer) { peer.together(std::move(whole), ended); });
}

/// The loop ends before a verb does where the fleet has stopped, or where something has failed.
Waited ProgramPeer::wait_for(VerbAtHand& verb, bool lends, int timeout_ms) {
  const auto until =
      Clock::now() + std::chrono::milliseconds(timeout_ms < 0 ? 1 << 30 : timeout_ms);
  for (;;) {
    const bool over = life_->over(std::chrono::nanoseconds(0));
    if (std::optional<VerbEnd> end = verb.take_end()) return {.end = std::move(end)};
    if (over) return {};
    const auto left = until - Clock::now();
    if (left <= std::chrono::nanoseconds(0)) return {.more = true};
    lends ? hands_->help(left) : verb.wait(left);
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
            fmt::format("waits in what all peers do together for {} {}: no script may come to it "
                        "less often than the others",
                        missing.size() == 1 ? "peer" : "peers",
                        fmt::join(missing, ", ")));
    });
  });
}

}  // namespace gv::embed

#include <utility>

#include <fmt/format.h>

#include "gossip/verb.h"
#include "peer/cli/embed/program_peer.h"

// What a program's peer pushes to its neighbours, and pulls from them.

namespace gv::embed {

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
    hands_->interrupt();
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

}  // namespace gv::embed

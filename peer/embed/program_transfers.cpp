#include <fmt/format.h>

#include "peer/embed/program_peer.h"

// What a program's peer pushes to its neighbours, and pulls from them.

namespace gv::embed {

std::uint64_t ProgramPeer::push(const gv_call& said, std::vector<std::byte> data) {
  VerbCall call = transfer_of(said, "gv_push");
  call.data = std::move(data);
  return begin_transfer(std::move(call), said.lends == 1, "gv_push");
}

std::uint64_t ProgramPeer::pull(const gv_call& said, std::size_t bytes) {
  VerbCall call = transfer_of(said, "gv_pull");
  if (bytes > most_verb_bytes) throw Fault(GV_E_USE, fmt::format("gv_pull: {} bytes", bytes));
  call.data.resize(bytes);
  return begin_transfer(std::move(call), said.lends == 1, "gv_pull");
}

std::uint64_t ProgramPeer::begin_transfer(VerbCall call, bool lends, const std::string& name) {
  check_attached(name.c_str());
  if (!life_->has_begun()) throw Fault(GV_E_USE, name + " comes after gv_begin");
  if (transfers_.size() >= most_transfers)
    throw Fault(
        GV_E_USE,
        fmt::format(
            "{}: {} are under way already, and gv_wait ends them", name, transfers_.size()));
  std::string why;
  life_->with([&](TcpPeer& peer) { why = peer.objection_to(call); });
  if (!why.empty()) throw Fault(GV_E_USE, name + ": " + why);
  const bool pushes = name == "gv_push";
  VerbCall known{.op = call.op, .type = call.type, .root = call.root, .mark = call.mark};
  const auto verb = std::make_shared<VerbAtHand>(std::move(known), pushes ? 0 : call.data.size());
  const auto ended = [this, verb](VerbEnd end) {
    verb->end(std::move(end));
    hands_->interrupt();
  };
  life_->with([&](TcpPeer& peer) {
    pushes ? peer.push(std::move(call), ended) : peer.pull(std::move(call), ended);
  });
  transfers_.emplace(++last_transfer_, Transfer{verb, lends});
  return last_transfer_;
}

int ProgramPeer::wait(std::uint64_t handle, std::span<std::byte> data, int timeout_ms) {
  const auto at = transfers_.find(handle);
  if (at == transfers_.end())
    throw Fault(GV_E_USE,
                fmt::format("gv_wait: {} is no handle, or was waited for before", handle));
  const std::shared_ptr<VerbAtHand> verb = at->second.verb;
  if (data.size() != verb->bytes())
    throw Fault(
        GV_E_USE,
        fmt::format("gv_wait: room for {} bytes, and there are {}", data.size(), verb->bytes()));
  const Waited waited = wait_for(*verb, at->second.lends, timeout_ms);
  if (waited.more) return GV_MORE;
  transfers_.erase(at);
  return outcome(waited, verb->op(), data);
}

}  // namespace gv::embed

#include "tests/chaos/chaos_fleet.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <sys/wait.h>

#include "peer/launch/process/launcher_line.h"
#include "tests/peer/launch/program.h"
#include "tests/places.h"

namespace gv {

ChaosFleet::ChaosFleet(
    std::string file, PeerId peers, std::string folder, Harm harm, std::uint64_t seed)
    : file_(std::move(file)),
      binary_(grapevine_program()),
      harm_(harm),
      seed_(seed),
      slots_(peers) {
  for (PeerId i = 0; i < peers; ++i) {
    slots_[i].folder = fmt::format("{}/peers/{:03}", folder, i);
    std::filesystem::create_directories(slots_[i].folder);
  }
}

void ChaosFleet::start(PeerId id, std::vector<std::string> past) {
  Slot& slot = slots_[id];
  std::vector<std::string> argv{binary_,      "peer",     file_, "--id", std::to_string(id),
                                "--launched", slot.folder};
  argv.insert(argv.end(), past.begin(), past.end());
  slot.child = std::make_unique<Child>(argv);
  slot.port = 0;
  slot.introduced = false;
}

std::vector<PeerAddress> ChaosFleet::addresses() const {
  std::vector<PeerAddress> all;
  for (PeerId i = 0; i < slots_.size(); ++i)
    all.push_back({i, "127.0.0.1", slots_[i].proxy ? slots_[i].proxy->port() : slots_[i].port});
  return all;
}

/// Sends the addresses of all peers to a restarted peer, and its address to the others.
void ChaosFleet::introduce(PeerId id) {
  slots_[id].child->tell(control::line(control::Addresses{addresses()}));
  slots_[id].introduced = true;
  if (!connected_) return;
  for (const Slot& slot : slots_)
    if (slot.introduced && slot.child->running())
      slot.child->tell(control::line(control::Addresses{{addresses()[id]}}));
}

void ChaosFleet::handle_message(PeerId id, const control::PeerSays& says) {
  Slot& slot = slots_[id];
  if (const auto* listening = std::get_if<control::Listening>(&says)) {
    slot.port = listening->port;
    slot.proxy = std::make_unique<Proxy>(slot.port, harm_, seed_ * 1000 + id);
    if (connected_) return introduce(id);
    if (!std::ranges::all_of(slots_, [](const Slot& s) { return s.port != 0; })) return;
    for (PeerId i = 0; i < slots_.size(); ++i) introduce(i);
    connected_ = true;
  } else if (const auto* progress = std::get_if<control::Progress>(&says)) {
    slot.round = progress->round;
  } else if (const auto* reported = std::get_if<control::Reported>(&says)) {
    slot.round = reported->report.round;
    const Payload model = receive_vector(slot.child->vectors(), std::size_t{1} << 30);
    if (reported->report.last) finals_[id] = model;
  }
}

bool ChaosFleet::pump() {
  bool ended = true;
  for (PeerId i = 0; i < slots_.size(); ++i) {
    Child& child = *slots_[i].child;
    child.reap();
    ended = ended && !child.running();
    for (const std::string& line : child.output().read())
      handle_message(i, control::parse_peer(line));
    for (const std::string& line : child.errors().read()) slots_[i].log += line + "\n";
  }
  return ended;
}

bool ChaosFleet::run_to_end() {
  for (int minute = 0; minute < 10; ++minute)
    if (comes_true([this] { return pump(); })) return true;
  for (PeerId i = 0; i < slots_.size(); ++i) {
    if (slots_[i].child->running())
      fmt::print("peer {} still runs, in round {}\n{}", i, slots_[i].round, slots_[i].log);
  }
  return false;
}

bool ChaosFleet::reaches(Round round) {
  return comes_true([&] {
    const bool ended = pump();
    return ended ||
           std::ranges::all_of(slots_, [round](const Slot& s) { return s.round >= round; });
  });
}

int ChaosFleet::exit_code(PeerId id) const {
  const int status = slots_[id].child->status();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

std::string ChaosFleet::harm_done() const {
  int cuts = 0, flips = 0, stalls = 0, holes = 0;
  for (const Slot& slot : slots_) {
    if (!slot.proxy) continue;
    cuts += slot.proxy->cuts();
    flips += slot.proxy->flips();
    stalls += slot.proxy->stalls();
    holes += slot.proxy->holes();
  }
  return fmt::format("{} cuts, {} flips, {} stalls, {} holes", cuts, flips, stalls, holes);
}

}  // namespace gv

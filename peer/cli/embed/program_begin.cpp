#include <algorithm>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "peer/cli/embed/descriptors.h"
#include "peer/cli/embed/program_peer.h"
#include "peer/launch/address_pattern.h"
#include "peer/launch/agent/interfaces.h"

// How a program's peer finds the others: by hand, or by its launcher.

namespace gv::embed {
namespace {

/// The time to leave in, once no launcher reads a report; a peer that cannot is ended.
constexpr int orphan_deadline_ms = 4000;

}  // namespace

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
                              link,
                              fleet_.id));
  return all;
}

void ProgramPeer::begin(const char* addresses) {
  check_attached("gv_begin");
  if (line_) {
    if (addresses != nullptr || life_->has_begun())
      throw Fault(GV_E_USE, "gv_begin: the launcher says where the others are; give NULL, once");
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

/// Waits until the neighbours have come, or the peer is closed; on the life's thread, as all of
/// these.
ProgramLife::Addresses ProgramPeer::meet_in_folder() const {
  using Clock = std::chrono::steady_clock;
  Meeting meeting(*assembly_, fleet_.id, words_.meet);
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
                  fmt::format("peers {} have not come to {} in {:g} s",
                              fmt::join(missing, ", "),
                              words_.meet,
                              words_.wait_seconds));
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

/// Waits for it, or until the peer is closed.
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

}  // namespace gv::embed

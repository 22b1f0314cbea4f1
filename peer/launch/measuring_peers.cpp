#include "peer/launch/measuring_peers.h"

#include <algorithm>
#include <ranges>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "optim/printable.h"
#include "peer/launch/hear.h"

namespace gv {

MeasuringPeers::MeasuringPeers(PeerId n,
                               const std::vector<std::string>& past,
                               Places& places,
                               const PeerSpeedOptions& options,
                               Heed heed)
    : peers_(n), places_(places), options_(options), heed_(std::move(heed)) {
  for (PeerId i = 0; i < n; ++i) peers_[i].process = places.start(i, past);
}

void MeasuringPeers::tell(const std::string& line) {
  for (const Peer& peer : peers_) peer.process->tell(line);
}

void MeasuringPeers::wait_for(const std::string& what, const std::function<bool(PeerId)>& done) {
  const auto all = std::views::iota(PeerId{0}, static_cast<PeerId>(peers_.size()));
  while (!std::ranges::all_of(all, done)) {
    wait();
    for (const PeerId id : all)
      if (hear_peer(id) && !done(id))
        throw std::runtime_error(
            fmt::format("peer {} did not measure: {} ({})",
                        id,
                        peers_[id].last_words.empty() ? "no word" : peers_[id].last_words,
                        peers_[id].process->ending()));
    options_.on_progress(
        fmt::format("{}: {} of {} peers", what, std::ranges::count_if(all, done), peers_.size()));
  }
}

void MeasuringPeers::wait() {
  constexpr int tick_ms = 100;
  std::vector<pollfd> fds;
  for (const Peer& peer : peers_) peer.process->add_to(fds);
  places_.add_to(fds);
  ::poll(fds.data(), fds.size(), tick_ms);
  places_.work();
  for (const std::string& note : places_.take_notes()) options_.say(note);
}

bool MeasuringPeers::hear_peer(PeerId id) {
  Peer& peer = peers_[id];
  return hear(
      *peer.process,
      [&](const std::string& line) { heed_(id, line); },
      [&](const std::string& line) { peer.last_words = printable(line, 300); });
}

}  // namespace gv

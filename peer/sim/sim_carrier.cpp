#include "peer/sim/sim_carrier.h"

#include <utility>

#include <fmt/format.h>

#include "peer/sim/faults.h"
#include "peer/sim/sim_network.h"
#include "peer/wire/frame/frame.h"

namespace gv {

SimCarrier::SimCarrier(
    SimNetwork& network, Life life_, LinkUser& user, LinkSettings settings, std::uint64_t seed)
    : life(life_), network_(network), links_(std::move(settings), *this, user, seed) {}

Time SimCarrier::now() const {
  return network_.processes_.clock(life.peer);
}

void SimCarrier::dial(PeerId neighbor, ConnectionId connection) {
  network_.connect(*this, neighbor, connection);
}

void SimCarrier::probe(PeerId neighbor) {
  network_.probe(*this, neighbor);
}

void SimCarrier::send(ConnectionId connection, const Frame& frame) {
  const auto at = connections_.find(connection);
  if (at != connections_.end()) network_.transmit(at->second, *this, frame);
}

void SimCarrier::admit(ConnectionId connection, PeerId neighbor, const Hello& theirs) {
  network_.admit(*this, connection, neighbor, theirs);
}

void SimCarrier::close(ConnectionId connection) {
  dialling_.erase(connection);
  const auto at = connections_.find(connection);
  if (at == connections_.end()) return;
  network_.close(at->second, *this);
  connections_.erase(at);
}

void SimCarrier::wake_at(Time time) {
  network_.run_at(network_.processes_.when(life.peer, time), *this, [this, wake = ++wakes_] {
    if (wake == wakes_) links_.on_time(now());
  });
}

std::string SimCarrier::address(PeerId neighbor) const {
  return fmt::format("process {}", neighbor);
}

JobCount SimCarrier::work() const {
  const SimWork& work = network_.shared_.work.at(life.peer);
  const bool working = work.until > network_.now();
  return {work.jobs - (working ? 1 : 0), working};
}

void SimCarrier::begin() {
  network_.injector_.note(network_.now(), "begins", life.peer);
  network_.on_begin_.at(this)();
}

void SimCarrier::fail(const std::string& why) {
  say("cannot begin: " + why);
  if (network_.shared_.faults == nullptr) return;
  network_.shared_.queue.push(network_.now(), [faults = network_.shared_.faults, peer = life.peer] {
    faults->cannot_begin(peer);
  });
}

void SimCarrier::leave() {
  left_ = true;
  network_.sharing_.ended(life);
  network_.injector_.note(network_.now(), "ends", life.peer);
  for (const auto& [id, link] : connections_) network_.close(link, *this);
  connections_.clear();
}

void SimCarrier::say(const std::string& line) {
  if (network_.injector_.traced())
    network_.injector_.tell(network_.now(), fmt::format("peer {} logs: {}", life.peer, line));
}

void SimCarrier::repeats(PeerId, const Message& message) {
  repeated_bytes_ += wire::frame_bytes(message);
}

void SimCarrier::note(LinkEvent event, PeerId neighbor) {
  network_.note(event, *this, neighbor);
}

}  // namespace gv

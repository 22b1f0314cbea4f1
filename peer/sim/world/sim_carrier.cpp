
#include <algorithm>
#include <bit>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "peer/sim/world/faults.h"
#include "peer/sim/world/sim_network.h"

namespace gv {
namespace {

/// Returns any number: small, large, or near the correct one.
std::uint64_t wrong(std::uint64_t right, FaultInjector& injector) {
  switch (injector.below(4)) {
    case 0:
      return injector.below(8);
    case 1:
      return right + injector.below(5) - 2;
    case 2:
      return right + (std::uint64_t{1} << injector.below(40));
    default:
      return ~injector.below(1000);
  }
}

/// Draws the bits of a float: any value, including negative ones and NaN.
std::uint32_t wrong_bits(FaultInjector& injector) {
  return static_cast<std::uint32_t>(injector.below(std::uint64_t{1} << 32));
}

struct Liar {
  Lie lie;
  FaultInjector& injector;

  void operator()(Hello& hello) const {
    if (lie == Lie::clock) hello.clock += std::uint64_t{1} << injector.below(63);
    if (lie == Lie::silence) hello.received = 0;
    if (lie == Lie::numbers) hello.received = wrong(hello.received, injector);
  }
  void operator()(Refusal&) const {}
  void operator()(Heartbeat& heartbeat) const {
    if (lie == Lie::clock) heartbeat.clock += std::uint64_t{1} << injector.below(63);
    if (lie == Lie::silence) heartbeat.ack = 0;
    if (lie == Lie::numbers) heartbeat.ack = wrong(heartbeat.ack, injector);
  }
  void operator()(NumberedMessage& numbered) const {
    Message& message = numbered.message;
    if (lie == Lie::clock) message.round += std::uint64_t{1} << injector.below(63);
    if (lie == Lie::silence) numbered.ack = 0;
    if (lie == Lie::numbers && injector.below(2) == 0)
      numbered.number = wrong(numbered.number, injector);
    if (lie == Lie::numbers && injector.below(2) == 0) numbered.ack = wrong(numbered.ack, injector);
    if (lie != Lie::contents) return;
    if (injector.below(4) == 0) message.from = static_cast<PeerId>(injector.below(8));
    if (injector.below(4) == 0) message.number = wrong(message.number, injector);
    if (injector.below(4) == 0)
      message.part = static_cast<std::uint32_t>(wrong(message.part, injector));
    if (injector.below(4) == 0)
      message.degree = static_cast<std::uint32_t>(wrong(message.degree, injector));
    if (message.bound != 0 && injector.below(4) == 0)
      message.bound = std::bit_cast<float>(wrong_bits(injector));
    if (injector.below(8) == 0) message.payload = nullptr;
  }
};

/// Delay of a message between processes on the same machine.
constexpr Time local_delay{std::chrono::microseconds(20)};

RegionShape shape_of(const SimShared& shared) {
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
  const std::uint64_t block = (shared.bounds.payload_bytes + 63) / 64 * 64;
  return {.blocks = 256,
          .rows = static_cast<std::uint32_t>(shared.peers.size()),
          .bytes = std::clamp(256 * block, std::uint64_t{64}, most_bytes)};
}

std::uint64_t incarnation(Life life) {
  return life.number + 1;
}

}  // namespace

Loan distort(Loan loan, Lie lie, FaultInjector& injector) {
  if (lie != Lie::contents) return loan;
  if (injector.below(4) == 0) loan.block = static_cast<std::uint32_t>(wrong(loan.block, injector));
  if (injector.below(4) == 0) loan.offset = wrong(loan.offset, injector);
  if (injector.below(4) == 0) loan.bytes = wrong(loan.bytes, injector);
  if (injector.below(4) == 0) loan.generation = wrong(loan.generation, injector);
  return loan;
}

Frame distort(Frame frame, Lie lie, FaultInjector& injector) {
  std::visit(Liar{lie, injector}, frame);
  return frame;
}

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

bool SimSharing::together(PeerId a, PeerId b) const {
  const auto [low, high] = std::minmax(a, b);
  if (!any()) return false;
  return Rng(seed_).derive("one machine").derive(low).derive(high).below(2) == 0;
}

Sharing& SimSharing::of(Life life) {
  std::unique_ptr<Sharing>& sharing = all_[{life.peer, life.number}];
  if (sharing) return *sharing;
  std::vector<PeerId> everybody(shared_.peers.size());
  std::iota(everybody.begin(), everybody.end(), PeerId{0});
  sharing = std::make_unique<Sharing>(Sharing::Options{.self = life.peer,
                                                       .incarnation = incarnation(life),
                                                       .neighbors = std::move(everybody),
                                                       .region = private_region(shape_of(shared_)),
                                                       .smallest = 1,
                                                       .parts = parts_.sharing});
  return *sharing;
}

void SimSharing::after_delay(Life at, std::function<void()> f) {
  processes_.run_at(shared_.queue.now() + local_delay, at.peer, at.number, std::move(f));
}

/// Follows the messages of peer/wire/tcp/shared_edges: the newcomer offers its region, the other
/// replies with its own, and the first reports that it is ready.
void SimSharing::met(Life self, Life neighbor) {
  const bool news = of(self).met(neighbor.peer, incarnation(neighbor));
  if (!news || self.peer > neighbor.peer || !together(self.peer, neighbor.peer)) return;
  after_delay(neighbor, [this, self, neighbor] {
    if (!take(neighbor, self)) return;
    after_delay(self, [this, self, neighbor] {
      if (!take(self, neighbor)) return;
      of(self).open(neighbor.peer);
      after_delay(neighbor, [this, self, neighbor] {
        if (of(neighbor).has_taken(self.peer, incarnation(self))) of(neighbor).open(self.peer);
      });
    });
  });
}

/// Offers the region of `from` to `at`. Returns false if `at` does not accept it.
bool SimSharing::take(Life at, Life from) {
  const Sharing& theirs = of(from);
  const std::uint32_t row = theirs.row_of(at.peer);
  if (!of(at).fits(from.peer, incarnation(from), theirs.region().shape, row)) return false;
  of(at).take(from.peer, theirs.region(), row);
  return true;
}

void SimSharing::audit(Life reader, Life lender, const Loan& loan) {
  const Region& region = of(lender).region();
  const bool inside = loan.block < region.shape.blocks && loan.bytes > 0 && loan.offset % 64 == 0 &&
                      loan.offset >= region.shape.blocks_begin() &&
                      loan.offset <= region.shape.size() &&
                      loan.bytes <= region.shape.size() - loan.offset;
  if (!inside || region.generation(loan.block).load() != loan.generation)
    shared_.audit->believed(reader, lender);
}

void SimSharing::ended(Life life) {
  for (PeerId other = 0; other < shared_.peers.size(); ++other) {
    const Life living{other, processes_.life(other)};
    if (other == life.peer || processes_.dead(other) || !together(life.peer, other)) continue;
    after_delay(living, [this, life, living] {
      Sharing& theirs = of(living);
      if (theirs.has_taken(life.peer, incarnation(life))) theirs.shut(life.peer);
    });
  }
}

}  // namespace gv

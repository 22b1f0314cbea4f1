#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "gossip/link/frames.h"
#include "gossip/link/link_layer.h"
#include "gossip/link/link_settings.h"
#include "peer/sim/audit.h"
#include "peer/sim/fault_injector.h"
#include "peer/sim/processes.h"
#include "peer/sim/sim_world.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/lend/sharing.h"

namespace gv {

/// The ways in which a neighbour lies. Its frames are whole: only their meaning gives it away.
enum class Lie : std::uint8_t {
  clock,      ///< it is many rounds ahead
  questions,  ///< it asks for our model, again and again
  silence,    ///< nothing that we sent has come
  numbers,    ///< numbers and acknowledgements of messages that never were
  contents,   ///< parts, exchanges and degrees that cannot be, and loans of what it has not
};
inline constexpr std::array<Lie, 5> all_lies{
    Lie::clock, Lie::questions, Lie::silence, Lie::numbers, Lie::contents};

/// The frame as a liar sends it.
Frame distort(Frame frame, Lie lie, FaultInjector& injector);
Loan distort(Loan loan, Lie lie, FaultInjector& injector);

class SimNetwork;
struct SimConnection;

/// Carries the link layer of one simulated process: the same as over TCP, with streams of bytes in
/// virtual time under it.
class SimCarrier : public Carrier {
 public:
  /// `seed`: of its dials.
  SimCarrier(
      SimNetwork& network, Life life, LinkUser& user, LinkSettings settings, std::uint64_t seed);

  const Life life;
  LinkLayer& links() { return links_; }
  const LinkLayer& links() const { return links_; }
  Time now() const;  ///< as its own clock shows
  bool left() const { return left_; }

  void dial(PeerId neighbor, ConnectionId connection) override;
  void probe(PeerId neighbor) override;
  void send(ConnectionId connection, const Frame& frame) override;
  void admit(ConnectionId connection, PeerId neighbor, const Hello& theirs) override;
  void finish(ConnectionId) override {}
  void close(ConnectionId connection) override;
  void wake_at(Time time) override;
  std::string address(PeerId neighbor) const override;
  JobCount work() const override;
  void begin() override;
  void fail(const std::string& why) override;
  void leave() override;
  void say(const std::string& line) override;
  void note(LinkEvent event, PeerId neighbor) override;
  void repeats(PeerId, const Message& message) override;
  std::uint64_t repeated_bytes() const { return repeated_bytes_; }

 private:
  friend class SimNetwork;

  SimNetwork& network_;
  std::set<ConnectionId> dialling_;
  std::map<ConnectionId, std::shared_ptr<SimConnection>> connections_;
  std::uint64_t wakes_ = 0;
  std::optional<Lie> lie_;  ///< it says what is not so
  bool left_ = false;
  std::uint64_t repeated_bytes_ = 0;
  LinkLayer links_;
};

/// The parts that a test puts instead of some of the simulated link layers, to show that the
/// swarm notices. Empty: the parts that ship.
struct LinkParts {
  std::function<void(LinkSettings&)> settings{};  ///< changes those of a process; its rules too
  std::function<std::unique_ptr<wire::FrameReader>(BufferPool&)> reader{};
  SharingParts sharing{};
};

/// The memory of simulated processes that are on one machine: the parts that ship, on regions in
/// our own memory, with messages in virtual time in place of Unix sockets. Which pairs of peers are
/// on one machine is drawn from the seed of the faults, so that a swarm walks both ways.
class SimSharing {
 public:
  SimSharing(SimShared& shared, Processes& processes, const LinkParts& parts, std::uint64_t seed)
      : shared_(shared), processes_(processes), parts_(parts), seed_(seed) {}

  bool any() const { return shared_.network.local == LocalTransport::shared; }
  /// Made when it is first asked for, and kept: who is dead may still have lent.
  Sharing& of(Life life);
  /// The link of this process is with that one.
  void met(Life self, Life neighbor);
  /// Checks what a process believed of a loan; the audit is told where it is not so.
  void audit(Life reader, Life lender, const Loan& loan);
  /// The process has ended; the kernel tells those that are alive.
  void ended(Life life);

 private:
  bool together(PeerId a, PeerId b) const;
  /// A message comes to this process, if it lives.
  void after_delay(Life at, std::function<void()> f);
  bool take(Life at, Life from);

  SimShared& shared_;
  Processes& processes_;
  const LinkParts& parts_;
  std::uint64_t seed_;
  std::map<std::pair<PeerId, std::uint64_t>, std::unique_ptr<Sharing>> all_;
};

}  // namespace gv

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "gossip/link/carrier.h"
#include "gossip/link/link_layer.h"
#include "gossip/link/link_settings.h"
#include "peer/sim/world/audit.h"
#include "peer/sim/world/fault_injector.h"
#include "peer/sim/world/processes.h"
#include "peer/sim/world/sim_world.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/lend/sharing.h"

namespace gv {

/// Ways in which a neighbour lies. Its frames are valid; only their content is false.
enum class Lie : std::uint8_t {
  clock,      ///< claims to be many rounds ahead
  questions,  ///< asks for our model again and again
  silence,    ///< claims that nothing we sent has arrived
  numbers,    ///< sends numbers and acknowledgements of nonexistent messages
  contents,   ///< sends impossible parts, exchanges, degrees and loans
};
inline constexpr std::array<Lie, 5> all_lies{Lie::clock, Lie::questions, Lie::silence, Lie::numbers,
                                             Lie::contents};

/// Returns the frame as a liar sends it.
Frame distort(Frame frame, Lie lie, FaultInjector& injector);
Loan distort(Loan loan, Lie lie, FaultInjector& injector);

class SimNetwork;
struct SimConnection;

/// Carries the real link layer of a simulated process over byte streams in virtual time.
class SimCarrier : public Carrier {
 public:
  /// `seed`: for the times of dials.
  SimCarrier(
      SimNetwork& network, Life life, LinkUser& user, LinkSettings settings, std::uint64_t seed);

  const Life life;
  LinkLayer& links() { return links_; }
  const LinkLayer& links() const { return links_; }
  Time now() const;  ///< time of its own clock
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
  std::optional<Lie> lie_;  ///< set if it lies
  bool left_ = false;
  std::uint64_t repeated_bytes_ = 0;
  LinkLayer links_;
};

/// Replacements by tests for parts of the simulated link layers, to show that the swarm detects
/// errors. The real parts are used for members that are empty.
struct LinkParts {
  std::function<void(LinkSettings&)> settings{};  ///< changes a process's settings and rules
  std::function<std::unique_ptr<wire::FrameReader>(BufferPool&)> reader{};
  SharingParts sharing{};
};

/// The shared memory of simulated processes on one machine: the real parts, on regions in our own
/// memory, with messages in virtual time instead of Unix sockets. The seed of the faults decides
/// which pairs of peers are on one machine, so that a swarm tests both cases.
class SimSharing {
 public:
  SimSharing(SimShared& shared, Processes& processes, const LinkParts& parts, std::uint64_t seed)
      : shared_(shared), processes_(processes), parts_(parts), seed_(seed) {}

  bool any() const { return shared_.network.local == LocalTransport::shared; }
  /// Returns a life's sharing, made at the first call and kept: a dead process may have lent.
  Sharing& of(Life life);
  /// Handles a new link of this process with another.
  void met(Life self, Life neighbor);
  /// Checks a loan that a process accepted; reports a false one to the audit.
  void audit(Life reader, Life lender, const Loan& loan);
  /// Handles the end of a process, of which the kernel notifies the live ones.
  void ended(Life life);

 private:
  bool together(PeerId a, PeerId b) const;
  /// Delivers a message to this process, if it lives.
  void after_delay(Life at, std::function<void()> f);
  bool take(Life at, Life from);

  SimShared& shared_;
  Processes& processes_;
  const LinkParts& parts_;
  std::uint64_t seed_;
  std::map<std::pair<PeerId, std::uint64_t>, std::unique_ptr<Sharing>> all_;
};

}  // namespace gv

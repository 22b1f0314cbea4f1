#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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

/// Two byte streams between two processes. Bytes arrive in order until the connection breaks,
/// stalls, or one of the processes closes its end.
struct SimConnection {
  using Bytes = std::vector<std::byte>;
  struct End {
    SimCarrier* process = nullptr;
    ConnectionId id = 0;        ///< id used by the process
    bool open = true;           ///< the process still uses it
    bool reset = false;         ///< broken; bytes on the way still arrive and must not count
    bool stalled = false;       ///< its bytes do not get through
    std::vector<Bytes> held{};  ///< bytes sent while stalled
    std::unique_ptr<wire::FrameReader> reader{};
  };
  std::array<End, 2> ends;

  std::size_t index_of(const SimCarrier& process) const {
    return ends[0].process == &process ? 0 : 1;
  }
  End& end_of(const SimCarrier& process) { return ends[index_of(process)]; }
};

/// The network of a simulated fleet with faults. Frames travel as bytes through the real codec,
/// between real link layers (gossip/link).
class SimNetwork {
 public:
  /// Two peers with an edge between them.
  struct Pair {
    PeerId a, b;
    Time blocked_until{0};  ///< no connection is possible before
    std::vector<std::weak_ptr<SimConnection>> connections{};
  };

  /// `parts` must outlive this object.
  SimNetwork(SimShared& shared,
             FaultInjector& injector,
             Processes& processes,
             const LinkParts& parts);

  // The processes.
  /// Starts a process: the first of its peer, or the successor of a dead one. `on_begin`: called
  /// when it has found enough neighbours.
  void born(Life life, LinkSettings settings, LinkUser& user, std::function<void()> on_begin);
  void start();  ///< starts the first processes; later ones start at birth
  /// Handles the death of a process. `silently`: with its machine, so that no peer is notified.
  void died(PeerId peer, bool silently);
  void send(PeerId from, PeerId to, Message message);
  void end(PeerId peer);  ///< called after its last message
  /// Returns the memory for what this process sends, or null for ordinary memory.
  std::shared_ptr<BufferMemory> memory(Life life);
  /// Returns the neighbour's life of the present conversation; none if they have not met.
  std::optional<std::uint64_t> life_of_neighbor(PeerId self, PeerId neighbor) const;

  // The faults. Each returns false if there is nothing to harm.
  bool empty() const { return pairs_.empty(); }
  Pair& random_pair();
  bool reset(Pair& pair);
  bool cut_off(Pair& pair, Time length);
  bool partition(Time length);  ///< separates a random set of peers from the others
  bool stall(Pair& pair, int ways, Time length);  ///< `ways`: 1 or 2
  /// Blocks everything from `from` to `to`, and new connections between them.
  void silence(PeerId from, PeerId to, Time length);
  /// Cuts as faults.inject does in real peers: link layers do not connect for `length`.
  void cut(PeerId a, PeerId b, Time length);

  /// Makes the process lie like this from now on.
  void lie(PeerId peer, Lie lie);
  /// Returns the payload bytes that neighbours have not acknowledged; a payload counts once,
  /// however many neighbours have not acknowledged it.
  std::uint64_t unacknowledged_bytes(PeerId peer) const;
  /// Returns the bytes of frames that the present process has retransmitted over other connections.
  std::uint64_t repeated_bytes(PeerId peer) const;

  /// Returns whether this peer keeps nothing more for the neighbour's process.
  bool given_up(PeerId self, PeerId neighbor) const;

  /// Returns whether the process lives and has not ended although it may.
  bool lingers(PeerId peer) const { return listens(peer) && !present_[peer]->links().over(); }

 private:
  friend class SimCarrier;
  using Bytes = SimConnection::Bytes;
  using Link = std::shared_ptr<SimConnection>;
  using End = SimConnection::End;

  Time now() const { return shared_.queue.now(); }
  SimCarrier& process(PeerId peer) { return *present_[peer]; }
  bool listens(PeerId peer) const;
  bool blocked(PeerId a, PeerId b);
  Pair& pair_of(PeerId a, PeerId b);
  /// Returns the arrival time of bytes sent now from one peer to another.
  Time arrival(PeerId from, PeerId to, std::size_t bytes);
  void run_at(Time at, SimCarrier& process, std::function<void()> f, bool idle = true);

  // Calls from a carrier.
  void connect(SimCarrier& from, PeerId to, ConnectionId id);
  void accept(SimCarrier& from, PeerId to, ConnectionId id);
  void probe(SimCarrier& from, PeerId to);
  void admit(SimCarrier& process, ConnectionId connection, PeerId neighbor, const Hello& theirs);
  void transmit(const Link& link, const SimCarrier& from, const Frame& frame);
  void close(const Link& link, const SimCarrier& from);

  Bytes bytes_of(const SimCarrier& from, PeerId to, const Frame& frame);
  void launch(const Link& link, std::size_t from, const Bytes& bytes, bool idle);
  void feed(const Link& link, std::size_t at, const Bytes& bytes);
  void take(End& at, Frame frame);
  void note(LinkEvent event, const SimCarrier& process, PeerId neighbor);
  void stall(const Link& link, std::size_t from, Time length);
  void end_stall(const Link& link, std::size_t from);

  SimShared& shared_;
  FaultInjector& injector_;
  Processes& processes_;
  const LinkParts& parts_;
  BufferPool pool_;
  SimSharing sharing_;
  std::vector<Shaper> shapers_;  ///< by id
  std::map<std::pair<PeerId, PeerId>, Pair> pairs_;
  std::deque<SimCarrier> carriers_;   ///< all lives, because scheduled events may refer to them
  std::vector<SimCarrier*> present_;  ///< by id: the last life
  std::map<const SimCarrier*, std::function<void()>> on_begin_;
  bool started_ = false;
};

}  // namespace gv

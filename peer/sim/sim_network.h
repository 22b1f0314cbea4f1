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
#include <string>
#include <utility>
#include <vector>

#include "peer/sim/fault_injector.h"
#include "peer/sim/processes.h"
#include "peer/sim/sim_carrier.h"
#include "peer/sim/sim_world.h"
#include "peer/wire/frame/frame.h"

namespace gv {

/// Two streams of bytes between two processes. What a process sends reaches the other one in order,
/// until the connection breaks, stalls, or one of them closes its end.
struct SimConnection {
  using Bytes = std::vector<std::byte>;
  struct End {
    SimCarrier* process = nullptr;
    ConnectionId id = 0;   ///< that the process knows it by
    bool open = true;      ///< the process still has it
    bool reset = false;    ///< it has broken; what was on its way still comes, and must not count
    bool stalled = false;  ///< what it sends does not get through
    std::vector<Bytes> held{};  ///< meanwhile
    std::unique_ptr<wire::FrameReader> reader{};
  };
  std::array<End, 2> ends;

  std::size_t index_of(const SimCarrier& process) const {
    return ends[0].process == &process ? 0 : 1;
  }
  End& end_of(const SimCarrier& process) { return ends[index_of(process)]; }
};

/// The network of a simulated fleet in which things go wrong. Frames travel as bytes through the
/// real codec, between link layers that are the real ones (gossip/link).
class SimNetwork {
 public:
  /// Two peers with an edge between them.
  struct Pair {
    PeerId a, b;
    Time blocked_until{0};  ///< no connection can be made before
    std::vector<std::weak_ptr<SimConnection>> connections{};
  };

  /// `parts` must outlive it.
  SimNetwork(SimShared& shared,
             FaultInjector& injector,
             Processes& processes,
             const LinkParts& parts);

  // The processes.
  /// A process begins; the first of its peer, or the successor of one that died. `on_begin`: it has
  /// found enough neighbours.
  void born(Life life, LinkSettings settings, LinkUser& user, std::function<void()> on_begin);
  void start();  ///< the first ones; from then on each starts when it is born
  /// A process has died. `silently`: with its machine, so that nobody is told.
  void died(PeerId peer, bool silently);
  void send(PeerId from, PeerId to, Message message);
  void end(PeerId peer);  ///< it has said its last words
  /// Returns the memory of what this process sends; null: the ordinary one.
  std::shared_ptr<BufferMemory> memory(Life life);
  /// Returns which life of the neighbour a conversation is with; none: they have not met.
  std::optional<std::uint64_t> life_of_neighbor(PeerId self, PeerId neighbor) const;

  // The faults. Each returns false where there is nothing to harm.
  bool empty() const { return pairs_.empty(); }
  Pair& random_pair();
  bool reset(Pair& pair);
  bool cut_off(Pair& pair, Time length);
  bool partition(Time length);  ///< a random set of peers is cut off from the others
  bool stall(Pair& pair, int ways, Time length);  ///< `ways`: 1 or 2
  /// Nothing that `from` sends reaches `to`, and no connection can be made between them.
  void silence(PeerId from, PeerId to, Time length);
  /// Cuts as faults.inject tells real peers to: their link layers do not connect for so long.
  void cut(PeerId a, PeerId b, Time length);

  /// Makes the process lie so from now on.
  void lie(PeerId peer, Lie lie);
  /// Counts what its neighbours have not acknowledged, in bytes of payload; one that several have
  /// not is counted once.
  std::uint64_t unacknowledged_bytes(PeerId peer) const;
  /// Counts what its present process has sent again over other connections, as frames.
  std::uint64_t repeated_bytes(PeerId peer) const;

  /// Returns whether nothing is kept any more for the neighbour's process.
  bool given_up(PeerId self, PeerId neighbor) const;

  /// A process that lives, and has not ended although it may.
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
  /// The next time that something sent now by one peer to another arrives there.
  Time arrival(PeerId from, PeerId to, std::size_t bytes);
  void run_at(Time at, SimCarrier& process, std::function<void()> f, bool idle = true);

  // What a carrier asks for.
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
  std::deque<SimCarrier> carriers_;   ///< all that ever were: what they scheduled may refer to them
  std::vector<SimCarrier*> present_;  ///< by id: the last one
  std::map<const SimCarrier*, std::function<void()>> on_begin_;
  bool started_ = false;
};

}  // namespace gv

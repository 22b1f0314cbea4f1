#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "gossip/peer.h"
#include "gossip/seam/costs.h"
#include "gossip/seam/world.h"
#include "optim/machine/workers.h"
#include "peer/record/life/recorder.h"
#include "peer/record/observer.h"
#include "peer/sim/world/processes.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/tcp/timing.h"

namespace gv {

class Peer;

/// Runs the events of one instant on several threads, in a world without faults: each affects only
/// its own peer. Effects beyond the peer (new events, work, reports to the observer) are deferred
/// until all have run, and performed in the order of the events. So the result is the same for any
/// number of threads.
class Rows {
 public:
  Rows(EventQueue& queue, const std::vector<Peer*>& peers, Workers& workers, int threads);

  /// Moves the clock to the next event and runs all events of that time.
  void run_next();

  /// Returns whether there was work since the last end_work().
  bool worked() const { return !ends_.empty(); }
  /// Pushes the events for the ends of work; called when nothing more happens at this instant.
  void end_work();

  // Called from an event of `peer`, or while none runs.
  void push(PeerId peer, Time at, PeerId to, Event event);
  void worked(PeerId peer, Time end, Event event);  ///< ends work at `end`, then runs `event`
  void outside(PeerId peer, Event event);           ///< runs an event that affects other peers

 private:
  /// A deferred effect of an event beyond its peer.
  struct Effect {
    enum class Kind : std::uint8_t { push, work, outside };
    Kind kind = Kind::push;
    PeerId to = 0;
    Time at{0};
    Event event{};
    std::size_t place = 0;  ///< index of the causing event in the row
  };
  /// A group of peers whose events run one after the other.
  struct Block {
    std::vector<std::size_t> places{};  ///< indices of their events in the row
    std::size_t place = 0;              ///< index of the running event
    std::vector<Effect> effects{};
    std::size_t done = 0;       ///< events with all effects performed
    std::size_t performed = 0;  ///< effects performed
  };
  Block& block_of(PeerId peer) { return blocks_[peer % blocks_.size()]; }
  void run(Block& block);
  void fetch(const Waiting& event) const;
  void perform(PeerId peer, Effect effect);
  void do_now(Effect effect);
  void do_next(Block& block);

  EventQueue& queue_;
  const std::vector<Peer*>& peers_;
  Workers& workers_;
  std::vector<Block> blocks_;
  std::vector<Waiting> row_;
  std::vector<Block*> active_;  ///< blocks with events in the row
  std::vector<Effect> ends_;    ///< ends of work
  bool together_ = false;       ///< several threads work on the row
};

/// Work that runs at the end of the instant on all cores; only with faults.
struct SimJob {
  Time end;  ///< virtual time of its end
  PeerId peer;
  std::uint64_t life;  ///< life of the peer
  std::function<void()> job;
  std::function<void()> done;
};

/// The work given to a peer; only with faults.
struct SimWork {
  std::uint64_t jobs = 0;  ///< number of jobs begun
  Time until{0};           ///< end of the last job
};

class Audit;
class Faults;
class Steadiness;

/// Messages of one sender for which a peer had no room, in order.
struct SimBacklog {
  std::deque<Message> messages;
  Time since;  ///< arrival of the oldest message
};

/// State shared by the worlds of a simulation.
struct SimShared {
  EventQueue queue;
  std::vector<SimJob> jobs;
  std::vector<SimWork> work;   ///< by id
  Time longest_work{0};        ///< longest job until now; only with faults
  std::vector<Peer*> peers;    ///< by id; each peer's present life
  std::vector<bool> finished;  ///< has sent its last message
  NetworkSpec network;
  wire::FrameBounds bounds;
  std::uint64_t seed = 1;      ///< seed of the fleet
  Time ended{0};               ///< time of the last message of the last peer
  Time before{0};              ///< time before this part of a resumed run; the queue begins at 0
  std::vector<Costs> earlier;  ///< by peer: costs of earlier lives
  std::vector<Costs> told;     ///< by peer: costs of the present life in its newest report
  std::map<PeerId, PeerId> left_by;  ///< see SimulationResult::left_by
  std::set<PeerId> broken_by;        ///< peers whose death or standstill ended a collective
  std::set<PeerId> chains_ended;     ///< peers that ended a chain which the fleet does not need
  bool does_without_chains = false;  ///< see Assembly
  Observer* observer = nullptr;
  Faults* faults = nullptr;  ///< null in a world without faults
  Rows* rows = nullptr;      ///< runs the events of a world without faults
  /// Backlogs by id and sender; only without faults. A peer's events use only its own backlogs.
  std::vector<std::map<PeerId, SimBacklog>> backlogs;
  Steadiness* steadiness = nullptr;  ///< null if pace and edges are not judged
  /// Returns whether two peers see each other, for Steadiness; only with faults.
  std::function<bool(PeerId, PeerId)> together;
  Audit* audit = nullptr;                                              ///< only with faults
  std::function<void(PeerId, std::function<void()> ended)> after_job;  ///< SimulationOptions'
  /// Keeps a checkpoint; may be null. May be called from several threads.
  std::function<void(PeerId, Round, std::vector<std::byte> state)> on_store;
  /// Receives how a life spent its time, at its end; may be null. Called from several threads.
  std::function<void(const Recorder&, std::uint64_t life)> on_life;
  RecordLimits record{};  ///< per life
};

/// World in virtual time. Links are FIFO per ordered pair, like TCP; the shaper computes arrival
/// times.
class SimWorld : public World {
 public:
  SimWorld(SimShared& shared, PeerId id, std::uint64_t life, double flops_per_second)
      : shared_(shared),
        id_(id),
        life_(life),
        flops_per_second_(flops_per_second),
        shaper_(shared.network, id, shared.seed) {}

  Time now() const override;
  void send(PeerId to, Message message) override;
  void after(Time delay, std::function<void()> f) override;
  void offload(Lane lane,
               double flops,
               std::function<void()> job,
               std::function<void()> done) override;
  std::uint64_t sent_bytes() const override { return sent_bytes_; }
  std::uint64_t repeated_bytes() const override;
  bool repeats() const override { return true; }
  Time stood_still() const override;
  std::shared_ptr<BufferMemory> memory() const override;

 private:
  void arrive(PeerId to, Message message);
  void offer_later(PeerId to);
  void offer_again(PeerId to);
  void end_work(Lane lane, std::function<void()> done);

  SimShared& shared_;
  PeerId id_;
  std::uint64_t life_;
  double flops_per_second_;
  std::array<Time, lanes> busy_until_{};  ///< by lane
  std::uint64_t sent_bytes_ = 0;
  Shaper shaper_;
};

}  // namespace gv

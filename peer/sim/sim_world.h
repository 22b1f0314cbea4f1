#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "gossip/costs.h"
#include "gossip/peer.h"
#include "gossip/world.h"
#include "optim/workers.h"
#include "peer/record/life/recorder.h"
#include "peer/record/observer.h"
#include "peer/sim/processes.h"
#include "peer/wire/frame/frame.h"
#include "peer/wire/tcp/shaper.h"

namespace gv {

class Peer;

/// The events of one instant on several threads, in a world in which nothing goes wrong: each
/// touches nothing but its own peer. What they do beyond it (events to come, work, words for the
/// observer) waits until all have run, and is done in the order of the events that did it: the same
/// happens, in the same order, on any number of threads.
class Rows {
 public:
  Rows(EventQueue& queue, const std::vector<Peer*>& peers, Workers& workers, int threads);

  /// Moves the clock to the next event and runs all that wait for that time.
  void run_next();

  /// Work was done since the last end_work().
  bool worked() const { return !ends_.empty(); }
  /// Nothing more happens at this instant: what is to happen when each work has ended may be
  /// pushed.
  void end_work();

  // From an event of `peer`, or while none runs.
  void push(PeerId peer, Time at, PeerId to, Event event);
  void worked(PeerId peer, Time end, Event event);  ///< `end`: of the work, and then `event`
  void outside(PeerId peer, Event event);           ///< what touches more than its peer

 private:
  /// A thing that an event did beyond its peer.
  struct Deed {
    enum class Kind : std::uint8_t { push, work, outside };
    Kind kind = Kind::push;
    PeerId to = 0;
    Time at{0};
    Event event{};
    std::size_t place = 0;  ///< in the row, of the event that did it
  };
  /// Some of the peers, whose events run one after the other.
  struct Block {
    std::vector<std::size_t> places{};  ///< of their events in the row
    std::size_t place = 0;              ///< of the one that runs
    std::vector<Deed> deeds{};
    std::size_t done = 0;       ///< events whose deeds are done
    std::size_t performed = 0;  ///< deeds that are
  };
  Block& block_of(PeerId peer) { return blocks_[peer % blocks_.size()]; }
  void run(Block& block);
  void fetch(const Waiting& event) const;
  void perform(PeerId peer, Deed deed);
  void do_now(Deed deed);
  void do_next(Block& block);

  EventQueue& queue_;
  const std::vector<Peer*>& peers_;
  Workers& workers_;
  std::vector<Block> blocks_;
  std::vector<Waiting> row_;
  std::vector<Block*> active_;  ///< with events in the row
  std::vector<Deed> ends_;      ///< of work
  bool together_ = false;       ///< several threads are at the row
};

/// Work that waits for the end of the instant, to be done on all cores; with faults only.
struct SimJob {
  Time end;  ///< of the work, in virtual time
  PeerId peer;
  std::uint64_t life;  ///< of the peer
  std::function<void()> job;
  std::function<void()> done;
};

/// The work that a peer has been given to compute; with faults only.
struct SimWork {
  std::uint64_t jobs = 0;  ///< begun
  Time until{0};           ///< when the last of them is done
};

class Audit;
class Faults;
class Steadiness;

/// The messages that a peer had no room for, of one sender, in the order in which they came.
struct SimBacklog {
  std::deque<Message> messages;
  Time since;  ///< when the oldest of them came
};

/// The things that the worlds of one simulation share.
struct SimShared {
  EventQueue queue;
  std::vector<SimJob> jobs;
  std::vector<SimWork> work;   ///< by id
  Time longest_work{0};        ///< of one job so far, with faults only
  std::vector<Peer*> peers;    ///< by id; each peer's present life
  std::vector<bool> finished;  ///< has said its last words
  NetworkSpec network;
  wire::FrameBounds bounds;
  std::uint64_t seed = 1;            ///< of the fleet
  Time ended{0};                     ///< when the last one of them said them
  Time before{0};                    ///< what a run that goes on took before; the queue begins at 0
  std::vector<Costs> earlier;        ///< of each peer: what its lives before the present one took
  std::vector<Costs> told;           ///< of the present one, as its newest report says
  std::set<PeerId> broken_by;        ///< whose death or standstill ended a collective ...
  std::set<PeerId> chains_ended;     ///< ... or that of a chain, which the fleet does without
  bool does_without_chains = false;  ///< see Assembly
  Observer* observer = nullptr;
  Faults* faults = nullptr;  ///< null: a world in which nothing goes wrong ...
  Rows* rows = nullptr;      ///< ... and whose events run here
  /// The backlogs by id and sender; without faults. Only events of the peer itself touch its own.
  std::vector<std::map<PeerId, SimBacklog>> backlogs;
  Steadiness* steadiness = nullptr;  ///< null: pace and edges are not judged
  /// Returns whether two peers see each other, for that judgement; with faults.
  std::function<bool(PeerId, PeerId)> together;
  Audit* audit = nullptr;                                              ///< with faults
  std::function<void(PeerId, std::function<void()> ended)> after_job;  ///< SimulationOptions'
  /// Keeps a checkpoint; null: nowhere. May be called from several threads.
  std::function<void(PeerId, Round, std::vector<std::byte> state)> on_store;
  /// Takes where a life spent its time, at its end; null: nobody asks. From several threads.
  std::function<void(const Recorder&, std::uint64_t life)> on_life;
  RecordLimits record{};  ///< of each
};

/// World in virtual time. Links are FIFO per ordered pair, as TCP is; when a message arrives, the
/// shaper says.
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

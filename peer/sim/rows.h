#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gossip/world.h"
#include "optim/workers.h"
#include "peer/sim/event_queue.h"

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

}  // namespace gv

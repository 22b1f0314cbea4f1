#pragma once

#include <cstdint>
#include <span>

namespace gv {

/// A stage of a chain in time; seconds.
struct TimedStage {
  double forward = 0;        ///< of a microbatch
  double backward = 0;       ///< and back, with what its gradient takes to be added up
  double step = 0;           ///< of a minibatch
  std::uint32_t window = 0;  ///< see window_of (gossip/stage.h)
  double card = 0;           ///< bytes per second of all that it sends; 0: no limit
};

/// Of the frames of a minibatch that cross a hop one way. A frame says of which microbatch it is,
/// and the number 0 takes no room.
struct FrameBytes {
  double first = 0, others = 0;

  double of(std::uint32_t microbatch) const { return microbatch == 0 ? first : others; }
};

/// Between a stage and the next one.
struct TimedHop {
  FrameBytes ahead{}, back{};
  double bandwidth = 0;  ///< of each way, bytes per second; 0: no limit
  double latency = 0;    ///< seconds
  bool inside = false;   ///< within a machine: not through the card
};

/// Holds what minibatches take in a chain.
struct Timetable {
  double gradient = 0;  ///< seconds until all of it has come back
  double round = 0;     ///< until the first stage can begin the next one
  double idle = 0;      ///< share of the stages' time in `gradient`
};

/// The longest path through the turns of all stages (Kelley 1961): each turn waits for its stage
/// and for what comes from the next one or the one before; what a stage sends leaves through its
/// card in the order of its turns. `hops`: one less than `stages`.
Timetable time_chain(std::span<const TimedStage> stages,
                     std::span<const TimedHop> hops,
                     std::uint32_t microbatches);

/// The same of so many minibatches that follow each other without a flush
/// (gossip/stage.h), at least three. `gradient`: until the last has come back and the
/// first stage has stepped; `round`: from one to the next in the middle of them, and `idle` in it.
/// Where they are some for each stage, that is what it is far from the beginning.
Timetable time_stream(std::span<const TimedStage> stages,
                      std::span<const TimedHop> hops,
                      std::uint32_t minibatches);

}  // namespace gv

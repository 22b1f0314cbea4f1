#pragma once

#include <cstdint>
#include <span>

namespace gv {

/// A stage of a chain in time, in seconds.
struct TimedStage {
  double forward = 0;        ///< per microbatch
  double backward = 0;       ///< per microbatch, including the addition of its gradient
  double step = 0;           ///< per minibatch
  std::uint32_t window = 0;  ///< see window_of (gossip/seam/stage.h)
  double card = 0;           ///< bytes per second sent in total; 0: no limit
};

/// Sizes of a minibatch's frames that cross a hop one way. A frame contains the number of its
/// microbatch, and the number 0 takes no space.
struct FrameBytes {
  double first = 0, others = 0;

  double of(std::uint32_t microbatch) const { return microbatch == 0 ? first : others; }
};

/// A hop from a stage to the next.
struct TimedHop {
  FrameBytes ahead{}, back{};
  double bandwidth = 0;  ///< bytes per second each way; 0: no limit
  double latency = 0;    ///< seconds
  bool inside = false;   ///< within a machine, bypassing the card
};

/// Times of minibatches in a chain.
struct Timetable {
  double gradient = 0;  ///< seconds until the whole minibatch has come back
  double round = 0;     ///< seconds until the first stage can begin the next one
  double idle = 0;      ///< idle fraction of the stages' time in `gradient`
};

/// Returns the longest path through the turns of all stages (Kelley 1961). Each turn waits for its
/// stage and for its input from an adjacent stage; outputs leave through the stage's card in the
/// order of turns. `hops`: one less than `stages`.
Timetable time_chain(std::span<const TimedStage> stages,
                     std::span<const TimedHop> hops,
                     std::uint32_t microbatches);

/// Times minibatches that follow each other without a flush (gossip/seam/stage.h), at least three.
/// `gradient`: until the last has come back and the first stage has stepped. `round`: time between
/// consecutive minibatches in the middle, and `idle` in that time. With several per stage, this is
/// the steady state.
Timetable time_stream(std::span<const TimedStage> stages,
                      std::span<const TimedHop> hops,
                      std::uint32_t minibatches);

}  // namespace gv

#include "gossip/registry.h"

// Plain SGD on the peer's own partition, without messages: the result of a peer alone. Robbins &
// Monro 1951. Per round: no messages.

namespace gv {
namespace {

Task<> isolated(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();
  }
}

}  // namespace

extern const AlgorithmRow isolated_row{.kind = "isolated",
                                       .run = isolated,
                                       .program = whole_steps,
                                       .by_coordinate = true,
                                       .summary = "plain SGD on each partition alone"};

}  // namespace gv

#pragma once

#include <vector>

#include "gossip/journal.h"

namespace gv {

/// Returns whether the peers keep every interval of the round that follows `rounds` completed ones:
/// the first eight, and eight from ceil(64 * 1.5^k) on for each k. The same at all peers, without a
/// word between them, so that a timeline of the fleet can be drawn.
bool is_kept_whole(Round rounds);

/// An interval of such a round: what a peer did, and when.
struct KeptInterval {
  Round round = 0;
  Interval interval;
};

}  // namespace gv

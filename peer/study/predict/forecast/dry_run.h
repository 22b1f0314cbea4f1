#pragma once

#include "peer/runtime/assembly.h"

namespace gv {

/// The cost of a round when the method's own code runs in virtual time over replicas that have the
/// sizes and the work of the real ones, and no values: the messages, the hops that wait for each
/// other and the queues at the busiest peer are those of the code that will run.
struct DryRun {
  double seconds_per_round = 0;  ///< until all have done it, the slowest as well
  double bytes_per_round = 0;    ///< out of the busiest peer
};

/// Runs some rounds, a whole number of periods if the method has one; all of them, or many, if
/// nobody waits or if graphs or peers are drawn. Takes the time of the messages: no arithmetic.
DryRun dry_run(const Assembly& fleet, const NetworkSpec& network);

}  // namespace gv

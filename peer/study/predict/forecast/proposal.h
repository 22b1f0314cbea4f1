#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// The cost of a round, measured by running the method's own code in virtual time. The replicas
/// have the sizes and the work of the real ones but no values. So messages, hops that wait for each
/// other, and queues at the busiest peer are those of the real run.
struct DryRun {
  double seconds_per_round = 0;  ///< mean time of a round, until the last peer has ended
  double bytes_per_round = 0;    ///< bytes sent by the busiest peer
  double part_done = 1;          ///< part of the rounds that a peer does, on average
};

/// Runs some rounds (whole periods if the method has a period), or all or many rounds if no peer
/// waits or if graphs or peers are drawn. Takes the time to simulate messages, without arithmetic.
DryRun dry_run(const Assembly& fleet, const NetworkSpec& network);

/// Places of peers on a fleet's graph. The spectrum of W, and so the number of rounds to a target,
/// does not depend on the places; the seconds per round do.
struct Placement {
  std::vector<PeerId> peers;       ///< peers[k] takes the place that peer k has in the file
  Topology graph;                  ///< the fleet's graph with these places
  double seconds_as_numbered = 0;  ///< predicted seconds per round as in the file
  double seconds = 0;              ///< predicted seconds per round here, never more
  std::size_t tried = 0;           ///< number of swaps
};

/// Local search: swaps the places of two random peers if the predicted seconds per round do not
/// grow (round_prediction.h). Keeps the order of the file unless the best placement is five per
/// cent faster. Only for gossip on a static graph; throws std::invalid_argument with the reason for
/// other fleets.
Placement best_placement(const Assembly& fleet);

/// Another way to train on the same samples and network, as keys to set in addition to the file's.
struct Proposal {
  std::vector<std::string> sets;  ///< "train.local_steps=8"; the fleet as it is has none
  double seconds_per_round = 0;   ///< the method's own code in virtual time
  double steps = 1;               ///< gradients of a peer per round, on average
  double seconds_per_step() const { return seconds_per_round / steps; }
};

/// The keys and files of a search for faster ways to train.
struct ProposalSearch {
  std::vector<std::string> sets;  ///< the `--set` values that the fleet was read with
  std::string placed;             ///< file with the placed graph of the fleet
  std::string leaf;               ///< file for graphs with leaves, at the end the best one
  std::function<void(const Topology& graph)> write;  ///< writes `leaf`
};

/// Returns the fleet as it is and alternatives that may take fewer seconds for the same number of
/// gradients, fastest first: its placed graph; slow peers as leaves of a ring of the others;
/// schedules; all-reduce, AD-PSGD and exchanges in eight bits; and eight local steps on the fastest
/// graph. Only seconds are compared: fewer exchanges or a codec need more gradients for the same
/// loss if the peers' data differ. Leaves out what cannot run. For the fleets of best_placement.
std::vector<Proposal> proposals(const Assembly& fleet, const ProposalSearch& search);

/// Returns a ring of the first peers, to which the others are attached in turn as leaves.
Topology ring_with_leaves(PeerId peers, PeerId leaves);

}  // namespace gv

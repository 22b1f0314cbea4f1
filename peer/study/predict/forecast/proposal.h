#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peer/runtime/assembly.h"

namespace gv {

/// The cost of a round when the method's own code runs in virtual time over replicas that have the
/// sizes and the work of the real ones, and no values: the messages, the hops that wait for each
/// other and the queues at the busiest peer are those of the code that will run.
struct DryRun {
  double seconds_per_round = 0;  ///< until all have done it, the slowest as well
  double bytes_per_round = 0;    ///< out of the busiest peer
};

/// Runs some rounds, a whole number of periods if the method has one; all rounds, or many, if no
/// peer waits or if graphs or peers are drawn. Takes the time of the messages: no arithmetic.
DryRun dry_run(const Assembly& fleet, const NetworkSpec& network);

/// The places of peers on a fleet's graph. The spectrum of W, and so the rounds to a target, is the
/// same wherever they stand; the seconds of a round are not.
struct Placement {
  std::vector<PeerId> peers;       ///< peers[k] takes the place that peer k has by its number
  Topology graph;                  ///< the fleet's own, with the places taken so
  double seconds_as_numbered = 0;  ///< per round, predicted
  double seconds = 0;              ///< the same of this placement, never more
  std::size_t tried = 0;           ///< swaps of two peers
};

/// Local search: of two peers that are drawn at random, the places are swapped where the predicted
/// seconds per round do not grow (round_prediction.h). Where the best of them is not five per cent
/// shorter than the order of the file, that one stays. Only for gossip on a graph that stays;
/// throws std::invalid_argument with the reason for other fleets.
Placement best_placement(const Assembly& fleet);

/// Another way to train a fleet's samples on its network, as keys to set beside those of its file.
struct Proposal {
  std::vector<std::string> sets;  ///< "train.local_steps=8"; empty: the fleet as it is
  double seconds_per_round = 0;   ///< the method's own code, in virtual time
  double steps = 1;               ///< gradients of a peer in a round
  double seconds_per_step() const { return seconds_per_round / steps; }
};

/// The keys and files of a search for what may be faster than the fleet as it is.
struct ProposalSearch {
  std::vector<std::string> sets;  ///< --set, as the fleet was read with
  std::string placed;             ///< the file with the placed graph of the fleet
  std::string leaf;               ///< the file for graphs with leaves; the best one is left there
  std::function<void(const Topology& graph)> write;  ///< to that file
};

/// The fleet as it is and what may be faster for as many gradients: its placed graph; slow peers as
/// leaves of a ring of the others; graphs that change with the round; all-reduce, AD-PSGD and
/// exchanges in eight bits; and eight local steps on the fastest of the graphs. The fastest first.
/// Seconds alone: fewer exchanges and codecs take more gradients to the same loss where the peers'
/// data are unlike. What cannot run in this fleet is left out. Fleets that best_placement takes.
std::vector<Proposal> proposals(const Assembly& fleet, const ProposalSearch& search);

/// A ring of the first peers with a leaf for each of the others, in turn: of three, a triangle.
Topology ring_with_leaves(PeerId peers, PeerId leaves);

}  // namespace gv

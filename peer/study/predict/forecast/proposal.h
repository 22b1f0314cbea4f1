#pragma once

#include <functional>
#include <string>
#include <vector>

#include "peer/runtime/assembly.h"
#include "peer/study/predict/forecast/placement.h"

namespace gv {

/// Another way to train a fleet's samples on its network, as keys to set beside those of its file.
struct Proposal {
  std::vector<std::string> sets;  ///< "train.local_steps=8"; empty: the fleet as it is
  double seconds_per_round = 0;   ///< the method's own code, in virtual time (dry_run.h)
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

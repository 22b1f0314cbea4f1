#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "peer/sim/drawn/fleet_draw.h"
#include "peer/sim/swarm.h"

namespace gv {

/// One run of a drawn fleet: all that repeats it.
struct DrawnRun {
  FlatKeys keys;
  std::uint64_t seed = 1;
  std::uint64_t until_ms = 500;
  FaultClasses classes = all_faults;
};

/// A drawn fleet that broke a rule.
struct Violation {
  std::uint64_t fleet = 0;
  std::string row;  ///< name_of_row
  DrawnRun run;
  std::uint64_t violations = 0;    ///< in all of its seeds
  std::vector<std::string> texts;  ///< of `run`
  bool shrunk = false;
};

/// Says what happened, without who and when: "peer N (life N) waits for ever in round N".
std::string kind_of(const std::string& violation);

/// The run to repeat, and with which parts.
struct Repeating {
  const PeerParts& parts;
  const LinkParts& links;
  const std::function<bool()>& interrupted;
};
/// Makes a run smaller as long as it breaks the same rule under one of a few fault seeds: fewer
/// peers and rounds, keys left out one by one, faults for a shorter time and of fewer classes.
void shrink(Violation& violation, const Repeating& with);

/// Returns what repeats it: `grapevine simulate FILE --faults swarm --seed S ...`.
std::string command_of(const DrawnRun& run, const std::string& file);

}  // namespace gv

#pragma once

#include <cstdint>
#include <functional>
#include <map>
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

/// The choice of fleets that are drawn, and what is done with each.
struct DrawOptions {
  std::uint64_t first = 1;
  std::uint64_t last = 1;                 ///< inclusive
  std::uint64_t first_seed = 1;           ///< of the faults of each fleet; see fault_seed()
  std::uint64_t last_seed = 10;           ///< inclusive
  std::vector<const AlgorithmRow*> rows;  ///< that fleets are drawn of; empty: all
  std::optional<std::uint64_t> until_ms;  ///< of all; none: each draws its own
  FaultClasses classes = all_faults;
  int jobs = 0;        ///< fleets at a time; 0: as many as there are cores
  bool shrink = true;  ///< the first fleet of each method and kind of violation
  PeerParts parts{};   ///< instead of the real ones
  LinkParts links{};   ///< the tests' own
  std::function<bool()> interrupted;
  /// Called in the order of the fleets, from several threads, one at a time.
  std::function<void(const Violation&)> on_violation;
  std::function<void(std::uint64_t fleets)> on_progress;
};

/// The counts of what became of the fleets of one row.
struct RowCount {
  std::uint64_t fleets = 0;
  std::uint64_t seeds = 0;
  std::uint64_t violating = 0;  ///< fleets
};

struct DrawResult {
  SwarmResult
      all{};  ///< `first_failing_seed` and `texts` are those of the first fleet that violates
  std::uint64_t fleets = 0;
  std::uint64_t violating = 0;  ///< fleets
  Refusals refusals{};
  std::map<std::string, RowCount> rows{};                ///< by name_of_row
  std::map<std::string, std::uint64_t> violations_by{};  ///< fleets by kind of violation, the first
};

/// The k-th fault seed of a fleet: each fleet has its own, so that faults are drawn for each.
std::uint64_t fault_seed(std::uint64_t fleet, std::uint64_t k);
inline constexpr std::uint64_t most_seeds_of_a_fleet = 10'000;

/// Draws fleets and runs each under drawn faults. The same numbers give the same result, whatever
/// the number of jobs.
DrawResult swarm_of_drawn(const DrawOptions& options);

}  // namespace gv

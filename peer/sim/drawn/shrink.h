#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "peer/sim/drawn/fleet_draw.h"
#include "peer/sim/swarm.h"

namespace gv {

/// A run of a drawn fleet, with all that is needed to repeat it.
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
  std::uint64_t violations = 0;    ///< in all seeds
  std::vector<std::string> texts;  ///< texts of `run`
  bool shrunk = false;
};

/// Returns the violation without peers and times: "peer N (life N) waits for ever in round N".
std::string kind_of(const std::string& violation);

/// Everything needed to repeat a run.
struct Repeating {
  const PeerParts& parts;
  const LinkParts& links;
  const std::function<bool()>& interrupted;
};
/// Shrinks a run while it breaks the same rule under one of a few fault seeds: fewer peers and
/// rounds, keys removed one by one, faults for a shorter time and of fewer classes.
void shrink(Violation& violation, const Repeating& with);

/// Returns the command that repeats the run: `grapevine simulate FILE --faults swarm --seed S ...`.
std::string command_of(const DrawnRun& run, const std::string& file);

/// The fleets to draw, and their treatment.
struct DrawOptions {
  std::uint64_t first = 1;
  std::uint64_t last = 1;                 ///< inclusive
  std::uint64_t first_seed = 1;           ///< fault seeds per fleet; see fault_seed()
  std::uint64_t last_seed = 10;           ///< inclusive
  std::vector<const AlgorithmRow*> rows;  ///< methods to draw from; none: all
  std::optional<std::uint64_t> until_ms;  ///< end of faults; none: drawn by each fleet
  FaultClasses classes = all_faults;
  int jobs = 0;        ///< fleets at a time; 0: one per core
  bool shrink = true;  ///< whether to shrink the first fleet of each method and kind of violation
  PeerParts parts{};   ///< replacements for the real ones
  LinkParts links{};   ///< for tests
  std::function<bool()> interrupted;
  /// Called in the order of fleets, from several threads, one at a time.
  std::function<void(const Violation&)> on_violation;
  std::function<void(std::uint64_t fleets)> on_progress;
};

/// The results of the fleets of one row.
struct RowCount {
  std::uint64_t fleets = 0;
  std::uint64_t seeds = 0;
  std::uint64_t violating = 0;  ///< fleets
};

struct DrawResult {
  SwarmResult all{};  ///< `first_failing_seed` and `texts` are from the first violating fleet
  std::uint64_t fleets = 0;
  std::uint64_t violating = 0;  ///< fleets
  Refusals refusals{};
  std::map<std::string, RowCount> rows{};                ///< by name_of_row
  std::map<std::string, std::uint64_t> violations_by{};  ///< fleets by kind of first violation
};

/// Returns the k-th fault seed of a fleet; each fleet has its own seeds.
std::uint64_t fault_seed(std::uint64_t fleet, std::uint64_t k);
inline constexpr std::uint64_t most_seeds_of_a_fleet = 10'000;

/// Draws fleets and runs each under random faults. The result does not depend on the number of
/// jobs.
DrawResult swarm_of_drawn(const DrawOptions& options);

}  // namespace gv

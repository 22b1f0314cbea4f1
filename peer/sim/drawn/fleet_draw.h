#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gossip/algorithm.h"
#include "peer/fleet/file/source.h"
#include "peer/runtime/assembly/assembly.h"
#include "peer/sim/swarm.h"

namespace gv {

/// Returns the fleet file with these keys, one line per top-level key: the inverse of flat_keys.
/// Keys of one section need not be adjacent.
std::string fleet_text(const FlatKeys& keys);

/// Returns the value; empty if the key is missing.
std::string value_of(const FlatKeys& keys, std::string_view path);
void set_key(FlatKeys& keys, std::string_view path, std::string value);
/// Erases the key and all keys below it.
void erase_keys(FlatKeys& keys, std::string_view path);

/// A random fleet file, and the time during which faults are drawn.
struct DrawnFleet {
  FlatKeys keys;
  std::uint64_t until_ms = 500;  ///< virtual milliseconds
};

/// Draws from one number: a row of `rows` with its options, what it may be combined with (graph or
/// schedule, weights, codec, data, model, optimizer, batches, local steps), 3 to 9 peers, their
/// machines and speeds, a network, deadlines, checkpoints. `attempt`: number of earlier draws that
/// the reader refused. The same numbers give the same fleet.
DrawnFleet draw(std::uint64_t number,
                std::uint64_t attempt,
                std::span<const AlgorithmRow* const> rows);

/// Number of refusals by the refused key: methods do not accept every graph, codec and optimizer.
using Refusals = std::map<std::string, std::uint64_t>;

/// Reads a drawn text; returns null and counts a refusal if the reader refuses it. Throws
/// std::logic_error if it refuses a key that is valid with any other keys.
std::unique_ptr<Assembly> read_drawn(const std::string& text, Refusals& refusals);

/// Returns whether the models stay bounded without faults. If a fleet diverges by itself, values
/// that are not finite are no error of the peers, and rounding is as large as the values compared.
bool stays_small(const Assembly& fleet);

/// A drawn fleet that can run and be judged.
struct ReadyFleet {
  DrawnFleet drawn;
  std::unique_ptr<Assembly> fleet;
};

/// Draws until the reader accepts the file, as if a user had written it, the swarm has no objection
/// and an undisturbed run keeps its models bounded. Throws std::logic_error as read_drawn does, and
/// after too many attempts.
ReadyFleet draw_ready(std::uint64_t number,
                      std::span<const AlgorithmRow* const> rows,
                      Refusals& refusals);

/// Returns "d-psgd" or "d-psgd:atc".
std::string name_of_row(const AlgorithmRow& row);
/// Returns the rows of this name, or all orders of a kind. Throws std::invalid_argument.
std::vector<const AlgorithmRow*> rows_named(const std::string& name);

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

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "peer/fleet/flat_keys.h"
#include "peer/fleet/json/json.h"
#include "peer/record/observer.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// The earlier run whose checkpoints another one goes on from.
struct ResumedRun {
  std::string run;  ///< its folder
  Round round = 0;
  bool whole = false;  ///< metrics.jsonl of the other one begins with the first part
};

/// The origin of a run: what it was started with.
struct RunOrigin {
  std::string kind;               ///< run | simulate
  std::string file;               ///< of the fleet, as given
  std::vector<std::string> sets;  ///< --set
  std::string version;            ///< of the program
  std::optional<ResumedRun> resumed;
};

/// Coordinated universal time, as RFC 3339 writes it.
std::string now_text();

/// run.json, schema grapevine.run/2: what the run is, its identity in digests, every key of its
/// file, when it began and on what machine.
Json run_json(const Assembly& fleet, const RunOrigin& origin, const FlatKeys& keys);

/// Returns whether the metrics.jsonl of this run are in virtual time, and begin with the first
/// round. They do not where an earlier version of the program wrote the rest of another run.
bool is_whole(const RunFolder& folder);

/// A new folder at output.dir with run.json and a copy of the fleet file. Throws std::runtime_error
/// where it cannot be made.
RunFolder begin_run(const Assembly& fleet, const RunOrigin& origin);

/// Takes room for the summary, which end_run gives back, so that a run whose disk is full by then
/// can still say how it ended. Nothing where there is none now.
void keep_room(const RunFolder& folder);

/// Writes what comes last: x, the model that is saved (`version`: of the program that saves it),
/// the summary, and its line of metrics.jsonl. Throws std::runtime_error (a full disk).
void end_run(const Assembly& fleet,
             const RunFolder& folder,
             const Observer& observer,
             std::span<const float> x,
             const std::string& summary,
             const std::string& version);

/// Does the same for a run whose model could not be saved: how it ended is known all the same.
void end_unsaved(const RunFolder& folder, const std::string& summary);

/// Returns whether the fleet's target was reached by the end; nothing where it has none.
std::optional<bool> target_reached(const Assembly& fleet, const Observer& observer);
/// "target     accuracy 0.9 missed: 0.8951 at the end"; "" without a target.
std::string target_text(const Assembly& fleet, const Observer& observer);
/// The exit code of a run that would end with `code`: check_failed where all is well but the
/// fleet's target was missed, or its loss rose as no training makes it, so that a script need not
/// read the screen.
int code_with_target(int code, const Assembly& fleet, const Observer& observer);
/// Adds "target": {"accuracy": 0.9, "of": "mean", "for": 1, "reached": false} where there is one.
void add_target(Json& summary, const Assembly& fleet, const Observer& observer);

/// The facts that a run's times depend on, as run.json keeps them.
struct MachineFacts {
  std::string processor;  ///< "Intel(R) Xeon(R) ..."; "unknown" where /proc does not say
  unsigned cores = 0;     ///< that this process may use
  std::uint64_t memory_bytes = 0;
};
MachineFacts machine_facts();

}  // namespace gv

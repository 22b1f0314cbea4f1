#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "peer/fleet/file/source.h"
#include "peer/fleet/json/json.h"
#include "peer/record/observer.h"
#include "peer/record/run_folder.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// Earlier run from whose checkpoints a run resumes.
struct ResumedRun {
  std::string run;  ///< its folder
  Round round = 0;
  bool whole = false;  ///< the resuming run's metrics.jsonl begins with the first part
};

/// Origin of a run: the arguments that it was started with.
struct RunOrigin {
  std::string kind;               ///< run | simulate
  std::string file;               ///< path of the fleet file, as given
  std::vector<std::string> sets;  ///< --set
  std::string version;            ///< version of the program
  std::optional<ResumedRun> resumed;
};

/// Returns the time in UTC, as RFC 3339 writes it.
std::string now_text();

/// Returns run.json, schema grapevine.run/2: the run's kind, its identity in digests, every key of
/// its file, its start time and its machine.
Json run_json(const Assembly& fleet, const RunOrigin& origin, const FlatKeys& keys);

/// Returns whether the metrics.jsonl of this run is in virtual time and begins with the first
/// round. Earlier versions of the program wrote only the rest of a resumed run.
bool is_whole(const RunFolder& folder);

/// Makes a folder at output.dir with run.json and a copy of the fleet file. Throws
/// std::runtime_error if that fails.
RunFolder begin_run(const Assembly& fleet, const RunOrigin& origin);

/// Reserves space for the summary, which end_run gives back, so that a run whose disk is full by
/// then can still record its end. Does nothing if there is no space now.
void keep_room(const RunFolder& folder);

/// Writes the last files: the saved model x (`version`: of the program that saves it), the summary,
/// and its line of metrics.jsonl. Throws std::runtime_error (a full disk).
void end_run(const Assembly& fleet,
             const RunFolder& folder,
             const Observer& observer,
             std::span<const float> x,
             const std::string& summary,
             const std::string& version);

/// Writes the summary of a run whose model could not be saved.
void end_unsaved(const RunFolder& folder, const std::string& summary);

/// Returns whether the fleet's target was reached by the end, or nothing if it has none.
std::optional<bool> target_reached(const Assembly& fleet, const Observer& observer);
/// Returns "target     accuracy 0.9 missed: 0.8951 at the end", or "" without a target.
std::string target_text(const Assembly& fleet, const Observer& observer);
/// Returns the exit code of a run that would end with `code`: check_failed instead of success if
/// the fleet's target was missed, or its loss rose as in no training, so that a script need not
/// read the screen.
int code_with_target(int code, const Assembly& fleet, const Observer& observer);
/// Adds "target": {"accuracy": 0.9, "of": "mean", "for": 1, "reached": false} if there is one.
void add_target(Json& summary, const Assembly& fleet, const Observer& observer);

/// Facts that a run's times depend on, kept in run.json.
struct MachineFacts {
  std::string processor;  ///< "Intel(R) Xeon(R) ..."; "unknown" if /proc has no name
  unsigned cores = 0;     ///< number that this process may use
  std::uint64_t memory_bytes = 0;
};
MachineFacts machine_facts();

}  // namespace gv

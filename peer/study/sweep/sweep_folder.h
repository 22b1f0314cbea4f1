#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/sweep/plan/trial_plan.h"

namespace gv {

/// Records which process runs which trial, in a folder shared by several invocations, possibly on
/// several machines. A claim is a file that is created exclusively and names its owner, which
/// renews the file's time while it lives. The claim of a dead owner is taken over: at once if its
/// death is visible (same machine), otherwise after `stale` by the file system's clock, which all
/// share.
class Claims {
 public:
  static constexpr std::chrono::seconds stale{180};
  static constexpr std::chrono::seconds renewal{10};

  /// Creates the folder if it is missing. Throws std::runtime_error with the path.
  explicit Claims(std::string folder);
  /// Releases all claims held.
  ~Claims();
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  /// Tries to take a claim; returns false if another process has it.
  bool take(const std::string& name);
  void release(const std::string& name);
  /// Renews the claims held, when due.
  void renew();
  /// Returns the owner, "host a, process 12"; nothing if no live process holds the claim.
  std::optional<std::string> holder(const std::string& name) const;
  /// Returns the names of all claims, including those of dead owners; ascending.
  std::vector<std::string> names() const;
  /// Returns a unique name for our files, from the machine, the process and its start time.
  const std::string& token() const { return token_; }

 private:
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string written_aside() const;
  bool create(const std::string& path) const;
  bool take_over(const std::string& name);
  bool is_stale(const std::string& path) const;
  std::filesystem::file_time_type now() const;

  std::string folder_;
  std::string words_;  ///< content of our claims
  std::string token_;
  std::map<std::string, bool> held_;
  std::chrono::steady_clock::time_point renewed_;
};

/// The end of a trial, as stored in its folder.
struct TrialEnd {
  TrialIdentity identity;
  std::vector<std::string> sets;
  double fraction = 1;                    ///< fraction of its rounds; below 1 in early rungs
  std::optional<std::uint64_t> diverged;  ///< round in which the loss became infinite or NaN
  bool deadline_passed = false;           ///< so the network influenced the result
  bool replayed = false;                  ///< the clock is its own, the rest another trial's
  std::uint64_t from_round = 0;           ///< earlier rounds are from the previous rung
  double wall_seconds = 0;
  std::string ended;  ///< RFC 3339, UTC; trials of old programs have neither this nor `build`
  std::string build;  ///< build of the program
};

/// The folder in which a sweep keeps its trials:
///   sweep.yaml base.yaml plan.json  trials/0007-one-peer-wifi-s2/  working/  failed/  claims/
/// A trial is built in working/ and moved to trials/ in one step, so exactly the trials there are
/// done.
class SweepFolder {
 public:
  /// Creates the folder and its subfolders. Throws std::runtime_error with the path.
  explicit SweepFolder(std::string path);

  const std::string& path() const { return path_; }
  std::string trial(const TrialSlot& slot) const { return path_ + "/trials/" + slot.folder; }
  std::string working(const TrialSlot& slot, const std::string& token) const;
  std::string failed(const TrialSlot& slot) const;
  std::string claims() const { return path_ + "/claims"; }
  /// Returns the numbers of all claimed trials.
  std::set<std::size_t> claimed() const;

  /// Returns the names of the folders in trials/.
  std::set<std::string> trials() const;
  /// Returns the end of this slot's trial; nothing if it is not done.
  std::optional<TrialEnd> end_of(const TrialSlot& slot) const;
  /// Deletes checkpoints from which no trial will resume.
  void drop_checkpoints(const TrialSlot& slot) const;
  /// Deletes what earlier processes left for a slot that we have claimed now.
  void clear_working(const TrialSlot& slot) const;
  /// Moves an outdated trial aside, for example after the file has changed.
  void set_aside(const TrialSlot& slot) const;

  /// Returns the ranges added by --extend. Throws std::runtime_error.
  std::vector<KnobRanges> extensions() const;
  void add_extension(const KnobRanges& ranges) const;

  /// Stores the current sweep.yaml and base.yaml, and gives the slots the numbers that they had
  /// when the sweep began; new slots get the next numbers. Throws std::runtime_error if plan.json
  /// cannot be read.
  void remember(SweepPlan& plan) const;

 private:
  std::string path_;
};

/// Returns trial.json of a finished trial, which is stored next to its run.json.
Json trial_json(const TrialSlot& slot, const TrialEnd& end);
/// Writes a file whole or not at all. Throws std::runtime_error with the path.
void write_whole(const std::string& path, const std::string& text);
/// Returns the text of a file of at most `most` bytes; nothing if it cannot be read.
std::optional<std::string> read_whole(const std::string& path, std::size_t most);

/// Returns 32 hex digits over the text of a sweep file and its fleet file, and over the build whose
/// trials count as done (any build if empty). Processes with the same version in one folder share
/// the work; those with other versions would keep redoing each other's trials as outdated. Throws
/// std::runtime_error if a file cannot be read.
std::string version_of(const SweepPlan& plan, const std::string& build);

/// Throws std::runtime_error, with the process and a remedy, if another live process works on
/// another version in this folder. `claims`: the folder's; claims of dead processes are deleted.
void refuse_other_versions(const SweepPlan& plan, const std::string& build, Claims& claims);

/// Claims this version for as long as the claims exist and are renewed.
void claim_version(const SweepPlan& plan, const std::string& build, Claims& claims);

}  // namespace gv

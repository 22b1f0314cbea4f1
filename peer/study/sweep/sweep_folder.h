#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/sweep/claims.h"
#include "peer/study/sweep/trial_plan.h"

namespace gv {

/// The end of a trial, as its folder keeps it.
struct TrialEnd {
  TrialIdentity identity;
  std::vector<std::string> sets;
  double fraction = 1;                    ///< of its rounds: less in the first rungs of halving
  std::optional<std::uint64_t> diverged;  ///< in this round the loss was not finite any more
  bool deadline_passed = false;           ///< so that the network decides what is computed
  bool replayed = false;                  ///< its clock alone; the rest is another trial's
  std::uint64_t from_round = 0;           ///< the rounds before are those of the rung before
  double wall_seconds = 0;
  std::string ended;  ///< UTC, as RFC 3339 writes it; "" in trials of earlier programs, as `build`
  std::string build;  ///< of the program
};

/// The folder in which a sweep keeps its trials:
///   sweep.yaml base.yaml plan.json  trials/0007-one-peer-wifi-s2/  working/  failed/  claims/
/// A trial is put together in working/ and appears in trials/ whole, in one step: what is there is
/// done, and nothing else is.
class SweepFolder {
 public:
  /// Makes the folder and what belongs into it. Throws std::runtime_error with the path.
  explicit SweepFolder(std::string path);

  const std::string& path() const { return path_; }
  std::string trial(const TrialSlot& slot) const { return path_ + "/trials/" + slot.folder; }
  std::string working(const TrialSlot& slot, const std::string& token) const;
  std::string failed(const TrialSlot& slot) const;
  std::string claims() const { return path_ + "/claims"; }
  /// The numbers of what somebody has claimed.
  std::set<std::size_t> claimed() const;

  /// The names of what is in trials/.
  std::set<std::string> trials() const;
  /// Returns what the trial of this slot ended with; nothing when it is not done.
  std::optional<TrialEnd> end_of(const TrialSlot& slot) const;
  /// Takes away the checkpoints from which nobody goes on any more.
  void drop_checkpoints(const TrialSlot& slot) const;
  /// Takes away what earlier processes left of a slot that is claimed by us now.
  void clear_working(const TrialSlot& slot) const;
  /// A trial that is not what it should be any more, such as of a changed file, makes room.
  void set_aside(const TrialSlot& slot) const;

  /// Returns how --extend has widened the ranges so far. Throws std::runtime_error.
  std::vector<KnobRanges> extensions() const;
  void add_extension(const KnobRanges& ranges) const;

  /// Keeps sweep.yaml and base.yaml as they are now, and gives the slots the numbers that they had
  /// when the sweep began; what is new comes behind. Throws std::runtime_error where plan.json
  /// cannot be read.
  void remember(SweepPlan& plan) const;

 private:
  std::string path_;
};

/// trial.json of a finished trial, beside its run.json.
Json trial_json(const TrialSlot& slot, const TrialEnd& end);
/// Writes a file whole or not at all. Throws std::runtime_error with the path.
void write_whole(const std::string& path, const std::string& text);
/// The text of a file of at most `most` bytes; nothing when it cannot be read.
std::optional<std::string> read_whole(const std::string& path, std::size_t most);

/// Returns 32 hex digits over the words of a sweep file and of its fleet file, and over the build
/// whose trials count as done ("": any). Who works on the same ones in one folder shares the work;
/// who works on others would take each other's trials for outdated, and do them again and again.
/// Throws std::runtime_error where one cannot be read.
std::string version_of(const SweepPlan& plan, const std::string& build);

/// Throws std::runtime_error, with who it is and what to do, where somebody else who is alive works
/// on another version in this folder. `claims`: of the folder; what the dead left there is taken
/// away.
void refuse_other_versions(const SweepPlan& plan, const std::string& build, Claims& claims);

/// From now on, and as long as the claims live and are renewed, we work on this version.
void claim_version(const SweepPlan& plan, const std::string& build, Claims& claims);

}  // namespace gv

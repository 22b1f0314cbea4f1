#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peer/fleet/json/json.h"
#include "peer/study/sweep/sweep_folder.h"
#include "peer/study/sweep/trial_plan.h"

namespace gv {

/// The work that a worker is to do: a line of JSON on its stdin.
struct TrialJob {
  TrialSlot slot;
  std::string file;  ///< fleet file
  std::vector<std::string> sets;
  TrialIdentity identity;    ///< what these must still mean
  std::string working;       ///< where it is put together
  std::string final_folder;  ///< where it appears
  bool simulated = true;
  double fraction = 1;       ///< of its rounds, after which it ends: a rung of halving
  std::string replay_of;     ///< a trial of the same bits, whose clock alone is new; "": none
  std::string goes_on_from;  ///< the same trial of the rung before, with its checkpoints; "": none
  bool keeps_state = false;  ///< checkpoints at its end, for the rung after it
  bool keep_model = false;
};
std::string to_line(const TrialJob& job);
/// Throws std::runtime_error.
TrialJob job_of(const std::string& line);

/// The outcome of a trial.
struct TrialOutcome {
  bool done = false;
  std::string message;  ///< why not, or what there is to say
};

/// The call by which a trial tells how far it is.
using TrialProgress = std::function<void(std::uint64_t round, std::uint64_t rounds)>;

/// Runs a trial, from its fleet to its folder in trials/. Throws what the fleet's parts throw.
/// `program`: for real runs; `version`: of the program, for run.json.
TrialOutcome run_trial(const TrialJob& job,
                       const std::string& program,
                       const std::string& version,
                       const TrialProgress& progress);

/// The simulated ones. What they make of what they go on from is, to the byte, what they would have
/// made from the beginning.
TrialOutcome simulate_trial(const TrialJob& job,
                            const std::string& version,
                            const TrialProgress& progress);

/// Its folder, in which all is written but the summary, goes to trials/ with it. When another
/// process has been quicker, nothing happens: the same was computed twice.
void publish_trial(const TrialJob& job, const TrialEnd& end, const std::string& summary);

/// Returns how many rounds are `fraction` of all: up to an evaluation, so that there is a figure.
std::uint64_t rounds_in(double fraction, std::uint64_t rounds, std::uint64_t evaluate_every);

}  // namespace gv

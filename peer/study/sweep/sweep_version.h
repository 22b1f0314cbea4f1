#pragma once

#include <string>

#include "peer/study/sweep/claims.h"
#include "peer/study/sweep/trial_plan.h"

namespace gv {

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

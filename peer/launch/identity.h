#pragma once

#include <functional>
#include <optional>
#include <string>

#include "graph/topology/topology.h"

namespace gv {

/// Which peer an engine that has started this process means it to be.
struct EngineIdentity {
  PeerId id = 0;
  std::string variable;  ///< of the environment, which says so
};

/// Of Slurm's srun, Open MPI's or another mpirun, or an indexed job of Kubernetes. Within an
/// allocation, but outside srun, Slurm's variables say nothing of a peer. Nothing: no engine has.
/// Throws std::runtime_error with the variable when it holds no number.
std::optional<EngineIdentity> engine_identity(
    const std::function<const char*(const char*)>& variable);
/// Of this process.
std::optional<EngineIdentity> engine_identity();

}  // namespace gv

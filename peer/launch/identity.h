#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "graph/topology/topology.h"
#include "peer/fleet/fleet.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {

/// The peer that an engine which has started this process means it to be.
struct EngineIdentity {
  PeerId id = 0;
  std::string variable;  ///< of the environment, which says so
};

/// Asks Slurm's srun, Open MPI's or another mpirun, an indexed job of Kubernetes, or a pod of a
/// StatefulSet, whose name ends in its number. Within an allocation, but outside srun, Slurm's
/// variables say nothing of a peer. Nothing: no engine has. Throws std::runtime_error with the
/// variable when it holds no number.
std::optional<EngineIdentity> engine_identity(
    const std::function<const char*(const char*)>& variable);
/// Reads the variables of this process.
std::optional<EngineIdentity> engine_identity();

/// Returns whether an engine says that it has started this peer before, elsewhere:
/// GRAPEVINE_RESTARTS and GRAPEVINE_MOVES count how often (`deploy` has Kubernetes do so).
bool restarted_by_engine(const std::function<const char*(const char*)>& variable);
bool restarted_by_engine();

/// Returns the keys of a peer that no launcher started, as `keygen` made them; null if there are
/// none: the links report whether they need some. `folder` replaces the fleet file's if it is not
/// empty. Throws std::runtime_error as context_of_file does.
std::shared_ptr<const TlsContext> own_keys(const Fleet& fleet,
                                           PeerId id,
                                           const std::string& folder);

}  // namespace gv

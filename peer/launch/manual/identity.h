#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "graph/topology/topology.h"
#include "peer/fleet/fleet.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {

/// Number that an engine (Slurm, MPI, Kubernetes) has given to this process as a peer.
struct EngineIdentity {
  PeerId id = 0;
  std::string variable;  ///< environment variable that holds the number
};

/// Reads the number from the variables of Slurm's srun, Open MPI or another mpirun, an indexed
/// Kubernetes job, or the pod of a StatefulSet, whose name ends in its number. Slurm's variables
/// count inside srun only: elsewhere in an allocation they identify no peer. Returns nothing if no
/// engine has started this process. Throws std::runtime_error if a variable holds no number.
std::optional<EngineIdentity> engine_identity(
    const std::function<const char*(const char*)>& variable);
/// Reads the environment of this process.
std::optional<EngineIdentity> engine_identity();

/// Returns whether an engine has started this peer before, elsewhere: GRAPEVINE_RESTARTS and
/// GRAPEVINE_MOVES count the starts (`deploy` makes Kubernetes set them).
bool restarted_by_engine(const std::function<const char*(const char*)>& variable);
bool restarted_by_engine();

/// Returns the keys, made by `keygen`, of a peer without a launcher, or null if there are none: the
/// links report whether they need keys. A non-empty `folder` replaces the fleet file's. Throws
/// std::runtime_error as context_of_file does.
std::shared_ptr<const TlsContext> own_keys(const Fleet& fleet,
                                           PeerId id,
                                           const std::string& folder);

}  // namespace gv

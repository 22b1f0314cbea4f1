#pragma once

#include <string>
#include <string_view>

#include "graph/mixing/mixing.h"
#include "graph/schedule/schedule.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// Returns 32 hex digits of XXH3-128 over the rows of W, in single precision, as averaging uses
/// them. Peers that read different graphs or weights from their files must not connect.
std::string digest_of(const MixingMatrix& w);
/// Returns such a digest of the matrices of one period.
std::string digest_of(const MixingSchedule& schedule);
/// Returns such a digest of the links of a graph.
std::string digest_of(const Topology& graph);

/// Returns 32 hex digits of XXH3-128 over everything that determines the arithmetic, in a fixed
/// order; for files their content, not their path. `name`: as the file gives it, "" if it does not,
/// so that a copy of the file is the same fleet, whatever its file name.
std::string digest_of(const Fleet& fleet, const std::string& name);

/// Returns 32 hex digits over everything that determines a run's models and when they are
/// evaluated. Unlike digest_of, it leaves out the name, and includes faults, attackers, evaluations
/// and stops by time or target. It includes network and peer speeds if the method is not
/// synchronous: two synchronous runs with equal digests take the same steps, whatever the clock. It
/// identifies data files by path, and arithmetic on GPUs by device.
std::string bits_of(const Fleet& fleet);

/// Returns such a digest of all that determines virtual time: the network and the peers' speeds.
std::string clock_digest(const Fleet& fleet);

/// Returns such a digest of a text, or of other bytes.
std::string digest_of_text(std::string_view text);

}  // namespace gv

#pragma once

#include <string>

#include "graph/mixing/mixing.h"
#include "graph/schedule/schedule.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// 32 hex digits of XXH3-128 over the rows of W, in single precision, as the averaging takes them.
/// Two peers that read different graphs or weights from their files must not meet.
std::string digest_of(const MixingMatrix& w);
/// Does the same over the matrices of one period.
std::string digest_of(const MixingSchedule& schedule);
/// Does the same over the links of a graph.
std::string digest_of(const Topology& graph);

/// 32 hex digits of XXH3-128 over everything that decides the arithmetic, in one fixed order; of
/// files their content, not where they lie. `name`: as the file writes it, "" where it does not: a
/// copy of the file is the same fleet, whatever the copy is called.
std::string digest_of(const Fleet& fleet, const std::string& name);

/// 32 hex digits over what fixes the models of a run and when they are looked at. As the digest,
/// but of fleets with any name, and with faults, attackers, evaluations and the ends by time or
/// target. The network and the peers' speeds are in it where the method is not synchronous: two
/// synchronous runs with one such digest take the same steps, whatever the clock says. Data of
/// files are told apart by their paths, and computing on GPUs by the devices.
std::string bits_of(const Fleet& fleet);

/// Does the same over what decides when a thing happens, in virtual time: the network, and the
/// peers' speeds.
std::string clock_digest(const Fleet& fleet);

/// Does the same over a text.
std::string digest_of_text(const std::string& text);

}  // namespace gv

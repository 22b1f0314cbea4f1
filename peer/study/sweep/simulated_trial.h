#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "peer/record/fleet_record.h"
#include "peer/record/life/recorder.h"
#include "peer/runtime/assembly.h"

namespace gv {

/// Returns whether the network decides nothing of what is computed, as long as no deadline passes:
/// of synchronous methods, unless something happens at a time, or peers help each other (then who
/// computed what depends on the clock, and so does the training loss that each one saw).
bool clock_stands_alone(const Fleet& fleet);

/// Returns whether a peer waited for a neighbour as long as faults.deadline is: then the clock
/// decided what was computed.
bool deadline_passed(const Assembly& fleet, const FleetRecord& end);

/// The files of a run, computed from the rounds of one and the clock of another.
struct ClockReplay {
  std::string metrics;  ///< metrics.jsonl
  std::string summary;  ///< summary.json, without its newline
};

/// The run of this fleet, where `trained` holds a run of the same bits on another network: what a
/// synchronous method computes does not depend on the network, so only the clock and the bytes are
/// taken from a simulation of this one, over replicas that compute nothing. Nothing where the clock
/// decides something after all, because a deadline passes or the rounds are others: then it has to
/// be trained. Where `trained` ends before the fleet's last round, the replay ends there, too.
/// `on_life`: see SimulationOptions. Throws std::runtime_error where `trained` cannot be read.
std::optional<ClockReplay> replay_clock(
    const Assembly& fleet,
    const std::string& trained,
    const std::function<void(const Recorder&, std::uint64_t life)>& on_life = {});

}  // namespace gv

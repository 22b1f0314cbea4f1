#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "peer/record/fleet_record.h"
#include "peer/record/life/recorder.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

/// Returns whether the network does not influence what is computed, as long as no deadline passes:
/// for synchronous methods, unless something happens at a given time, or peers share work (then the
/// clock decides which peer computes what, and so the training loss that each peer sees).
bool clock_stands_alone(const Fleet& fleet);

/// Returns whether a peer waited for a neighbour for faults.deadline, so that the clock influenced
/// what was computed.
bool deadline_passed(const Assembly& fleet, const FleetRecord& end);

/// The files of a run, combined from the rounds of one run and the clock of another.
struct ClockReplay {
  std::string metrics;  ///< metrics.jsonl
  std::string summary;  ///< summary.json, without its newline
};

/// Returns the files of this fleet's run, given a run of the same bits on another network in
/// `trained`. What a synchronous method computes does not depend on the network, so only clock and
/// bytes come from a simulation of this fleet, over replicas that compute nothing. Returns nothing
/// if the clock matters after all, because a deadline passes or the rounds differ; then the fleet
/// must be trained. If `trained` ends before the fleet's last round, so does the replay. `on_life`:
/// see SimulationOptions. Throws std::runtime_error if `trained` cannot be read.
std::optional<ClockReplay> replay_clock(
    const Assembly& fleet,
    const std::string& trained,
    const std::function<void(const Recorder&, std::uint64_t life)>& on_life = {});

}  // namespace gv

#pragma once

#include <cstddef>
#include <cstdint>

#include "gossip/link/link_settings.h"
#include "peer/runtime/assembly.h"
#include "peer/wire/frame/frame.h"

namespace gv {

/// Returns a peer's link settings from its plan, without process identity and times.
/// `small_messages` is in bytes of payload that a neighbour may always leave unacknowledged.
LinkSettings link_settings(const Plan& plan, std::size_t parameters, std::uint64_t small_messages);
LinkTimes link_times(const FaultSpec& faults);
/// Returns the bounds of the frames that the peers of a fleet send to each other.
wire::FrameBounds frame_bounds(const Assembly& fleet);

}  // namespace gv

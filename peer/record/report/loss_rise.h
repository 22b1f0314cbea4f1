#pragma once

#include <string>

#include "peer/fleet/json/json.h"
#include "peer/record/fleet_record.h"

namespace gv {

/// Says that the loss has risen so much at once that training is not the cause, where, and when it
/// was first found; "" where it has not. No trailing newline.
std::string loss_rise_text(const FleetRecord& record);
/// Returns whether it has, of a peer's minibatches or of the fleet's model.
bool loss_rose(const FleetRecord& record);
/// "loss_rise": {"round", "from", "to", "peers"}, where it has.
void add_loss_rise(Json& line, const FleetRecord& record);

}  // namespace gv

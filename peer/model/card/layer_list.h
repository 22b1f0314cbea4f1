#pragma once

#include "optim/data/dataset.h"
#include "optim/models/model.h"
#include "peer/fleet/json/json.h"

namespace gv {

/// Lists a model's operations (optim/models/network_builder.h), one object each: {"op": "linear",
/// "inputs": [0], "parameters": ["fc1.weight", "fc1.bias"], "out": [256]}. Inputs are places in the
/// list, whose first entry is the sample; unneeded keys are left out. The last operation gives the
/// logits, the value of a regression, or the margin of a logistic regression.
Json layer_list(const ModelSpec& spec, const Dataset& like);

}  // namespace gv

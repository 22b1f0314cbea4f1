#pragma once

#include "optim/data/dataset.h"
#include "optim/models/model.h"
#include "peer/fleet/json/json.h"

namespace gv {

/// Lists a model's operations (optim/models/network_builder.h), one object each: {"op": "linear",
/// "inputs": [0], "parameters": ["fc1.weight", "fc1.bias"], "out": [256]}. Inputs are places in the
/// list, of which the first is the sample itself; what an operation needs not is left out. The last
/// one gives the logits, the value of a regression, or the margin of a logistic regression.
Json layer_list(const ModelSpec& spec, const Dataset& like);

}  // namespace gv

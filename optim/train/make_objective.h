#pragma once

#include <memory>

#include "optim/models/model.h"

namespace gv {

struct AgentPlace;
struct AgentSpec;

/// The objective of a model on a peer's share of the data, on the CPU. Throws
/// std::invalid_argument when the share has no data, and when model and data do not fit.
std::unique_ptr<Objective> make_objective(const ModelSpec& spec, Share share);
/// Does the same for an agent that acts with the model (optim/rl/q_agent.h). Throws
/// std::invalid_argument when model and environment do not fit.
std::unique_ptr<Objective> make_agent(const ModelSpec& model,
                                      const AgentSpec& spec,
                                      const AgentPlace& place);

}  // namespace gv

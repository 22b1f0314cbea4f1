#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>

#include "gossip/journal.h"
#include "optim/models/objective.h"

namespace gv {

/// The judge of models that chains of peers divide, of which no peer has one whole.
struct ModelJudge {
  std::size_t size = 0;  ///< of a model, in floats
  std::function<Evaluation(PeerId model, std::span<const float> x)> evaluate{};
};

/// Puts the parts of each model together, and gives the report of its last stage what all of it is
/// worth; of several copies the first one's, and what all of them have trained. Of a model that is
/// not whole, because a stage is missing or of another round, nothing counts: its reports hold
/// nothing and train nothing.
void judge_models(std::map<PeerId, Report>& reports, const ModelJudge& judge);

}  // namespace gv

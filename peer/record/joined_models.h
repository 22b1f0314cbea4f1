#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "gossip/journal.h"
#include "optim/models/objective.h"
#include "optim/range.h"

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

struct Fleet;

/// Where in the fleet's model the values of a report's model stand, one range behind the other.
std::vector<Range> held_ranges(const Report& report);
/// Returns whether they can: as many as there are values, ascending, within a model of so many.
bool fit_model(const Report& report, std::size_t dimension);
/// Returns whether an untrusted report can belong to this fleet, whose model has `dimension`
/// values: it names existing peers and chains, its values fit the model, and a peer that trains a
/// whole model reports all of it.
bool can_be_of(const Fleet& fleet, std::size_t dimension, const Report& report);

/// The reports of peers that are looked at together, by peer.
using ReportsByPeer = std::map<PeerId, const Report*>;

/// The fleet's model: at each coordinate the mean of those that hold it (plan.h), summed in
/// double, in id order. Where nobody does any more, of the copies.
std::vector<float> mean_of_reports(const ReportsByPeer& reports);

}  // namespace gv

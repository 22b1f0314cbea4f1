#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "gossip/seam/journal.h"
#include "optim/models/objective.h"
#include "optim/range.h"

namespace gv {

/// Evaluates models that chains of peers divide, because no peer holds a whole one.
struct ModelJudge {
  std::size_t size = 0;  ///< floats in a model
  std::function<Evaluation(PeerId model, std::span<const float> x)> evaluate{};
};

/// Joins the parts of each model and writes its evaluation into the report of its last stage (of
/// the first copy, with the mean train loss over the copies). If a stage is missing or of another
/// round, the model's reports get weight 0 and do not count as training.
void judge_models(std::map<PeerId, Report>& reports, const ModelJudge& judge);

struct Fleet;

/// Returns the ranges of the fleet's model that the values of a report fill, in order.
std::vector<Range> held_ranges(const Report& report);
/// Returns whether held_ranges() is valid: ascending, within `dimension`, and exactly as many
/// values as the report has.
bool fit_model(const Report& report, std::size_t dimension);
/// Returns whether an untrusted report can belong to this fleet, whose model has `dimension`
/// values: it names existing peers and chains, its values fit the model, and the report of a peer
/// that trains a whole model is complete.
bool can_be_of(const Fleet& fleet, std::size_t dimension, const Report& report);

/// Reports of one evaluation, by peer.
using ReportsByPeer = std::map<PeerId, const Report*>;

/// Returns the fleet's model: at each coordinate the mean over the peers that hold it (plan.h), or
/// over its copies if all holders are gone; summed in double, in id order.
std::vector<float> mean_of_reports(const ReportsByPeer& reports);

}  // namespace gv

#include "peer/record/joined_models.h"

#include <algorithm>
#include <vector>

namespace gv {
namespace {

using Parts = std::vector<Report*>;  ///< of one model, ascending by peer

/// Whether a report is of the same stage as the one before it: a copy.
bool repeats(const Report& a, const Report& b) {
  return a.holds.begin == b.holds.begin && a.model->size() == b.model->size();
}

/// The first copy of each stage.
Parts firsts_of(const Parts& parts) {
  Parts firsts;
  for (Report* part : parts)
    if (firsts.empty() || !repeats(*firsts.back(), *part)) firsts.push_back(part);
  return firsts;
}

bool is_whole(const Parts& parts, std::size_t size) {
  const auto is_of_round = [&](const Report* part) { return part->round == parts.front()->round; };
  if (!std::ranges::all_of(parts, is_of_round)) return false;
  std::size_t end = 0;
  const Parts firsts = firsts_of(parts);
  for (const Report* part : firsts) {
    if (part->holds.begin != end) return false;
    end += part->model->floats().size();
  }
  return end == size;
}

std::vector<float> join(const Parts& firsts) {
  std::vector<float> x;
  for (const Report* part : firsts) {
    const std::span<const float> own = part->model->floats();
    x.insert(x.end(), own.begin(), own.end());
  }
  return x;
}

/// Each copy of the last stage knows the loss of its own samples.
double train_loss(const Parts& parts) {
  const Report& last = *firsts_of(parts).back();
  double sum = 0;
  double samples = 0;
  for (const Report* part : parts) {
    if (!repeats(last, *part)) continue;
    sum += static_cast<double>(part->samples) * part->train_loss;
    samples += static_cast<double>(part->samples);
  }
  return samples > 0 && parts.back() != &last ? sum / samples : last.train_loss;
}

}  // namespace

void judge_models(std::map<PeerId, Report>& reports, const ModelJudge& judge) {
  if (!judge.evaluate) return;
  std::map<PeerId, Parts> models;
  for (auto& [peer, report] : reports)
    if (report.holds.model) models[*report.holds.model].push_back(&report);
  for (auto& [model, parts] : models) {
    if (is_whole(parts, judge.size)) {
      const Parts firsts = firsts_of(parts);
      firsts.back()->evaluation = judge.evaluate(model, join(firsts));
      firsts.back()->train_loss = train_loss(parts);
      firsts.back()->trains = true;  // the first copy that is left
      continue;
    }
    for (Report* part : parts) {
      part->holds.weight = 0;
      part->trains = false;
    }
  }
}

}  // namespace gv

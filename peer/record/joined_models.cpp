#include "peer/record/joined_models.h"

#include <algorithm>
#include <vector>

namespace gv {
namespace {

using Parts = std::vector<Report*>;  ///< of one model, ascending by peer

bool is_whole(const Parts& parts, std::size_t size) {
  std::size_t end = 0;
  for (const Report* part : parts) {
    if (part->holds.begin != end || part->round != parts.front()->round) return false;
    end += part->model->floats().size();
  }
  return end == size && parts.back()->trains;
}

std::vector<float> join(const Parts& parts) {
  std::vector<float> x;
  for (const Report* part : parts) {
    const std::span<const float> own = part->model->floats();
    x.insert(x.end(), own.begin(), own.end());
  }
  return x;
}

}  // namespace

void judge_models(std::map<PeerId, Report>& reports, const ModelJudge& judge) {
  if (!judge.evaluate) return;
  std::map<PeerId, Parts> models;
  for (auto& [peer, report] : reports)
    if (report.holds.model) models[*report.holds.model].push_back(&report);
  for (auto& [model, parts] : models) {
    if (is_whole(parts, judge.size)) {
      parts.back()->evaluation = judge.evaluate(model, join(parts));
      continue;
    }
    for (Report* part : parts) {
      part->holds.weight = 0;
      part->trains = false;
    }
  }
}

}  // namespace gv

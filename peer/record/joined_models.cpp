#include "peer/record/joined_models.h"

#include <algorithm>
#include <span>
#include <vector>

#include "optim/unknown_figure.h"
#include "peer/record/held_ranges.h"

namespace gv {
namespace {

using Parts = std::vector<Report*>;  ///< of one model, ascending by peer

/// A range of the model and the values that a report has of it.
struct Stretch {
  Range range;
  std::span<const float> values;
  Report* of = nullptr;
};

/// Of each range the first that has it, in the order of the model: the others have copies of it.
/// Nothing where they do not make one model, each report of the same round.
std::vector<Stretch> pieces_of(const Parts& parts, std::size_t size) {
  std::vector<Stretch> all;
  for (Report* part : parts) {
    if (part->round != parts.front()->round || !fit_model(*part, size)) return {};
    std::span<const float> left = part->model->floats();
    for (const Range& range : held_ranges(*part)) {
      all.push_back({range, left.first(range.count), part});
      left = left.subspan(range.count);
    }
  }
  std::ranges::stable_sort(all, {}, [](const Stretch& piece) { return piece.range.begin; });
  const auto copies = std::ranges::unique(all, {}, &Stretch::range);
  all.erase(copies.begin(), copies.end());
  std::size_t end = 0;
  for (const Stretch& piece : all) {
    if (piece.range.begin != end) return {};
    end += piece.range.count;
  }
  return end == size ? all : std::vector<Stretch>{};
}

std::vector<float> join(const std::vector<Stretch>& pieces) {
  std::vector<float> x;
  for (const Stretch& piece : pieces) x.insert(x.end(), piece.values.begin(), piece.values.end());
  return x;
}

/// Each copy of the last stage knows the loss of its own samples.
double train_loss(const Parts& parts, const Report& last) {
  double one = last.train_loss;
  double sum = 0;
  double samples = 0;
  int known = 0;
  for (const Report* part : parts) {
    if (part->costs.samples == 0 || is_unknown(part->train_loss)) continue;
    one = part->train_loss;
    sum += static_cast<double>(part->costs.samples) * one;
    samples += static_cast<double>(part->costs.samples);
    ++known;
  }
  return known > 1 ? sum / samples : one;
}

}  // namespace

void judge_models(std::map<PeerId, Report>& reports, const ModelJudge& judge) {
  if (!judge.evaluate) return;
  std::map<PeerId, Parts> models;
  for (auto& [peer, report] : reports)
    if (report.holds.model) models[*report.holds.model].push_back(&report);
  for (auto& [model, parts] : models) {
    const std::vector<Stretch> pieces = pieces_of(parts, judge.size);
    if (!pieces.empty()) {
      Report& last = *pieces.back().of;
      last.evaluation = judge.evaluate(model, join(pieces));
      last.train_loss = train_loss(parts, last);
      last.trains = true;  // the first copy that is left
      continue;
    }
    for (Report* part : parts) {
      part->holds.weight = 0;
      part->trains = false;
    }
  }
}

}  // namespace gv

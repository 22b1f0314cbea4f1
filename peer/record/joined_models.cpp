#include "peer/record/joined_models.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "optim/unknown_figure.h"
#include "peer/fleet/fleet.h"

namespace gv {
namespace {

using Parts = std::vector<Report*>;  ///< reports of one model, ascending by peer

/// A range of the model and a report's values for this range.
struct Stretch {
  Range range;
  std::span<const float> values;
  Report* of = nullptr;
};

/// Returns the pieces of one model in order, each from the first report that has it; the others
/// hold copies. Returns nothing if the reports do not make one whole model of one round.
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

/// Averages over the copies of the last stage: each knows the loss of its own samples only.
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

/// A range of the model and a peer's values for this range, with its weight.
struct Held {
  Range range;
  const float* values = nullptr;
  double weight = 0;
};

/// Returns the held ranges by peer id, and ascending within a peer.
std::vector<Held> held_by(const ReportsByPeer& reports) {
  std::vector<Held> all;
  for (const auto& [peer, report] : reports) {
    const float* values = report->model->floats().data();
    for (const Range& range : held_ranges(*report)) {
      all.push_back({range, values, report->holds.weight});
      values += range.count;
    }
  }
  return all;
}

/// Returns where held ranges begin or end: between two such bounds all coordinates have the same
/// holders.
std::set<std::size_t> bounds_of(const std::vector<Held>& all) {
  std::set<std::size_t> bounds;
  for (const Held& held : all) {
    bounds.insert(held.range.begin);
    bounds.insert(held.range.begin + held.range.count);
  }
  return bounds;
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
      last.trains = true;  // the first surviving copy
      continue;
    }
    for (Report* part : parts) {
      part->holds.weight = 0;
      part->trains = false;
    }
  }
}

std::vector<Range> held_ranges(const Report& report) {
  if (!report.holds.ranges.empty()) return report.holds.ranges;
  return {{report.holds.begin, report.model->floats().size()}};
}

/// Reports are untrusted: each number is bounded before it is added to another.
bool fit_model(const Report& report, std::size_t dimension) {
  std::size_t end = 0;
  std::size_t values = 0;
  for (const Range& range : held_ranges(report)) {
    if (range.begin < end || range.begin > dimension || range.count > dimension - range.begin)
      return false;
    end = range.begin + range.count;
    values += range.count;
  }
  return values == report.model->floats().size();
}

bool can_be_of(const Fleet& fleet, std::size_t dimension, const Report& report) {
  const PeerId n = fleet.size();
  const bool names_others =
      report.broken_by.value_or(0) >= n ||
      report.holds.model.value_or(0) >= std::max(fleet.models(), PeerId{1}) ||
      std::ranges::any_of(report.clipped, [=](const auto& c) { return c.of >= n; }) ||
      std::ranges::any_of(report.edges, [=](const auto& e) { return e.with >= n; });
  const bool whole =
      !report.trains || report.holds.model || report.model->floats().size() == dimension;
  return report.peer < n && !names_others && whole && report.model->size() % sizeof(float) == 0 &&
         fit_model(report, dimension);
}

std::vector<float> mean_of_reports(const ReportsByPeer& reports) {
  const std::vector<Held> all = held_by(reports);
  std::vector<float> model;
  std::vector<double> sum;
  for (const std::size_t end : bounds_of(all)) {
    const std::size_t begin = model.size();
    const auto covers = [=](const Held& held) {
      return held.range.begin <= begin && end <= held.range.begin + held.range.count;
    };
    const bool held =
        std::ranges::any_of(all, [&](const Held& of) { return covers(of) && of.weight > 0; });
    sum.assign(end - begin, 0);
    double weight = 0;
    for (const Held& of : all | std::views::filter(covers)) {
      const double w = held ? of.weight : 1;
      if (w == 0) continue;
      weight += w;
      const float* const x = of.values + (begin - of.range.begin);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += w * static_cast<double>(x[k]);
    }
    for (const double total : sum) model.push_back(static_cast<float>(total / weight));
  }
  return model;
}

}  // namespace gv

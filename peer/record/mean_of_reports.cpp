#include "peer/record/mean_of_reports.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "peer/record/held_ranges.h"

namespace gv {
namespace {

/// A range of the model, and the values that somebody has of it.
struct Held {
  Range range;
  const float* values = nullptr;
  double weight = 0;
};

/// In id order, of each peer ascending.
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

/// Returns where a part of somebody's begins or ends: between two of these all coordinates have the
/// same holders.
std::set<std::size_t> bounds_of(const std::vector<Held>& all) {
  std::set<std::size_t> bounds;
  for (const Held& held : all) {
    bounds.insert(held.range.begin);
    bounds.insert(held.range.begin + held.range.count);
  }
  return bounds;
}

}  // namespace

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

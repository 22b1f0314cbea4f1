#include "peer/record/fleet_record.h"

#include <algorithm>
#include <cmath>

namespace gv {
namespace {

/// Raises the running totals only; `kept` and `actors` are current values.
void raise(std::optional<ExperienceFigures>& figures, const ExperienceFigures& to) {
  if (!figures) figures.emplace();
  figures->frames = std::max(figures->frames, to.frames);
  figures->taken = std::max(figures->taken, to.taken);
  figures->learnt = std::max(figures->learnt, to.learnt);
}

bool same_place(const EdgeEnd& one, const EdgeEnd& other) {
  return one.exchange == other.exchange && one.pieces == other.pieces;
}

const EdgeEnd* end_with(const Report& report, PeerId with) {
  const auto at = std::ranges::find(report.edges, with, &EdgeEnd::with);
  return at == report.edges.end() ? nullptr : &*at;
}

}  // namespace

ProgressWatch::ProgressWatch(const Aims& aims) : patience_(aims.patience) {
  measure_.figure = aims.target ? aims.target->figure : TargetSpec::Figure::loss;
  measure_.whose = aims.target ? aims.target->whose : TargetSpec::Whose::mean;
}

bool ProgressWatch::see(std::optional<double> figure) {
  const bool accuracy = measure_.figure == TargetSpec::Figure::accuracy;
  const bool known = figure && std::isfinite(*figure);
  const bool better = known && (!best_ || (accuracy ? *figure > *best_ : *figure < *best_));
  since_ = better ? 0 : since_ + 1;
  if (better) best_ = figure;
  return better;
}

void ProgressWatch::recall(std::optional<double> figure) {
  see(figure);
  if (out_of_patience()) since_ = patience_ - 1;
}

void FleetCosts::take(const Report& report) {
  OfPeer& peer = told_[report.peer];
  peer.trains = report.trains;
  raise(peer.costs, report.costs);
  if (report.experience) raise(peer.experience, *report.experience);
}

void FleetCosts::add_to(FleetRecord& record, const decltype(Aims::frames)& frames) const {
  const auto more_frames = [&](std::uint64_t n) { record.frames = record.frames.value_or(0) + n; };
  for (const auto& [id, peer] : told_) {
    record.costs += peer.costs;
    if (peer.trains) ++record.told;
    if (frames && peer.trains) more_frames(frames(id, peer.costs.samples));
    if (!peer.experience) continue;
    more_frames(peer.experience->frames);
    if (!record.experience) record.experience.emplace();
    record.experience->frames += peer.experience->frames;
    record.experience->taken += peer.experience->taken;
    record.experience->learnt += peer.experience->learnt;
  }
}

std::vector<UnevenEdge> uneven_edges(const std::map<PeerId, const Report*>& last) {
  std::vector<UnevenEdge> uneven;
  for (const auto& [a, report] : last) {
    for (const EdgeEnd& at_a : report->edges) {
      const auto other = last.find(at_a.with);
      if (at_a.with <= a || other == last.end()) continue;
      const EdgeEnd* const at_b = end_with(*other->second, a);
      if (at_b != nullptr && !same_place(at_a, *at_b))
        uneven.push_back({a, at_a.with, at_a, *at_b});
    }
  }
  return uneven;
}

std::vector<QuietEdge> quiet_edges(const std::map<PeerId, const Report*>& last) {
  std::map<std::pair<PeerId, PeerId>, QuietEdge> quiet;
  for (const auto& [peer, report] : last)
    for (const SilentEdge& edge : report->silent) {
      if (!last.contains(edge.with)) continue;
      const auto [a, b] = std::minmax(peer, edge.with);
      QuietEdge& one = quiet[{a, b}];
      if (edge.rounds > one.rounds) one = {a, b, edge.since, edge.rounds};
    }
  std::vector<QuietEdge> ascending;
  for (const auto& [ends, edge] : quiet) ascending.push_back(edge);
  return ascending;
}

}  // namespace gv

#include "peer/record/fleet_costs.h"

#include <algorithm>

#include "peer/record/observer.h"

namespace gv {
namespace {

void raise(Costs& costs, const Costs& to) {
  for (std::size_t k = 0; k < activities; ++k)
    costs.spent.at.at(k) = std::max(costs.spent.at.at(k), to.spent.at.at(k));
  costs.spent.hidden_wire = std::max(costs.spent.hidden_wire, to.spent.hidden_wire);
  costs.sent_bytes = std::max(costs.sent_bytes, to.sent_bytes);
  costs.model_bytes = std::max(costs.model_bytes, to.model_bytes);
  costs.repeated_bytes = std::max(costs.repeated_bytes, to.repeated_bytes);
  costs.samples = std::max(costs.samples, to.samples);
}

/// What has been done, and not what is there.
void raise(std::optional<ExperienceFigures>& figures, const ExperienceFigures& to) {
  if (!figures) figures.emplace();
  figures->frames = std::max(figures->frames, to.frames);
  figures->taken = std::max(figures->taken, to.taken);
  figures->learnt = std::max(figures->learnt, to.learnt);
}

}  // namespace

void FleetCosts::take(const Report& report) {
  OfPeer& peer = told_[report.peer];
  peer.trains = report.trains;
  raise(peer.costs, costs_of(report));
  if (report.experience) raise(peer.experience, *report.experience);
}

void FleetCosts::add_to(FleetRecord& record, const decltype(Aims::frames)& frames) const {
  const auto more_frames = [&](std::uint64_t n) { record.frames = record.frames.value_or(0) + n; };
  for (const auto& [id, peer] : told_) {
    record.spent += peer.costs.spent;
    record.sent_bytes += peer.costs.sent_bytes;
    record.model_bytes += peer.costs.model_bytes;
    record.repeated_bytes += peer.costs.repeated_bytes;
    record.samples += peer.costs.samples;
    if (frames && peer.trains) more_frames(frames(id, peer.costs.samples));
    if (!peer.experience) continue;
    more_frames(peer.experience->frames);
    if (!record.experience) record.experience.emplace();
    record.experience->frames += peer.experience->frames;
    record.experience->taken += peer.experience->taken;
    record.experience->learnt += peer.experience->learnt;
  }
}

}  // namespace gv

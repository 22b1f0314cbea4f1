#include "peer/record/fleet_costs.h"

#include <algorithm>

#include "peer/record/fleet_record.h"

namespace gv {
namespace {

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

}  // namespace gv

#include "peer/sim/sim_journal.h"

#include <memory>
#include <utility>

#include "peer/sim/audit.h"
#include "peer/sim/faults.h"
#include "peer/sim/steadiness.h"

namespace gv {

void SimJournal::publish(Report report) {
  if (shared_.rows == nullptr) return tell(std::move(report));
  auto kept = std::make_unique<Report>(std::move(report));
  shared_.rows->outside(id_, [this, kept = std::move(kept)] { tell(std::move(*kept)); });
}

void SimJournal::tell(Report report) {
  // An evaluation by time waits for the work that is under way, and shows what was before it.
  const bool ticks = report.tick > 0 && !report.last;
  const Time now = ticks ? report.due : shared_.before + shared_.queue.now();
  if (report.broken_by)
    (shared_.does_without_chains ? shared_.chains_ended : shared_.broken_by)
        .insert(*report.broken_by);
  if (report.last) {
    shared_.finished[id_] = true;
    shared_.ended = now;
  }
  const bool last = report.last;
  shared_.told.at(id_) = report.costs;
  report.costs += shared_.earlier.at(id_);
  shared_.observer->take(std::move(report), now);
  if (last && shared_.faults != nullptr) shared_.faults->network().end(id_);
}

void SimJournal::store(Round round, std::vector<std::byte> state) {
  if (shared_.on_store) shared_.on_store(id_, round, std::move(state));
}

void SimJournal::round_done(RoundDone round) {
  if (shared_.steadiness != nullptr)
    shared_.steadiness->ended({id_, life_},
                              round.now,
                              shared_.faults != nullptr ? shared_.queue.now() : round.now,
                              shared_.together);
  if (recorder_) recorder_->round_done(std::move(round));
}

void SimJournal::life_done(const LifeDone& life) {
  if (!recorder_) return;
  recorder_->life_done(life);
  shared_.on_life(*recorder_, life_);
}

void SimJournal::settled(const Settlement& settlement) {
  if (recorder_) recorder_->settled(settlement);
  if (shared_.steadiness != nullptr) shared_.steadiness->flowed(id_, settlement.with);
  if (shared_.audit == nullptr) return;
  const auto with = shared_.faults->network().life_of_neighbor(id_, settlement.with);
  const Peer& self = *shared_.peers[id_];
  shared_.audit->settled({id_, life_},
                         {settlement.with, with.value()},
                         settlement,
                         self.plan.traffic,
                         self.replica.size());
}

void SimJournal::note(const PeerEvent& event) {
  if (shared_.faults != nullptr) shared_.faults->heard(id_, event);
}

}  // namespace gv

#include "gossip/core/roster.h"

namespace gv {

void Roster::away(std::size_t k) {
  Entry& entry = entries_[k];
  if (entry.presence == Presence::here) entry.presence = Presence::away;
  ++entry.outages;
}

void Roster::replaced(std::size_t k) {
  entries_[k] = {.outages = entries_[k].outages + 1, .life = entries_[k].life + 1};
}

Standing Roster::standing(std::size_t k) const {
  const Entry& entry = entries_[k];
  if (entry.quarantined) return Standing::quarantined;
  return entry.strikes >= self_.plan.strikes ? Standing::suspected : Standing::good;
}

bool Roster::missing(std::size_t k) const {
  return dead(k) || entries_[k].left_early || entries_[k].quarantined;
}

void Roster::blame(std::size_t k) {
  Entry& entry = entries_[k];
  if (entry.struck == self_.round) return;
  entry.struck = self_.round;
  if (++entry.strikes > self_.plan.strikes) return;  // it was logged often enough
  self_.journal.note(event::NotFiniteCame{self_.round, self_.neighbors[k].peer, entry.strikes,
                                          self_.plan.strikes});
}

void Roster::quarantine(std::size_t k) {
  entries_[k].quarantined = true;
  self_.journal.note(event::Quarantined{self_.neighbors[k].peer});
}

}  // namespace gv

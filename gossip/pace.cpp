#include "gossip/pace.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "gossip/awaits.h"
#include "graph/schedule/schedule_lead.h"

namespace gv {
namespace {

/// Returns the furthest round that two neighbours who are here have told, or 0: a single one may
/// lie by as many rounds as are tolerated (ClockBound), each time that we meet.
Round told_by_two(const PeerCore& self, const Roster& roster, const Pace& pace) {
  std::vector<Round> told;
  for (std::size_t k = 0; k < self.neighbors.size(); ++k)
    if (roster.here(k) && !roster.quarantined(k)) told.push_back(pace.heard(k));
  std::ranges::sort(told, std::greater<>{});
  return told.size() < 2 ? Round{0} : told[1];
}

/// Returns the round, from `clock` on, that is the first in which nobody of our row has gone on
/// without us, as far as we have heard: each waits for all of its row, so who has gone beyond a
/// round whose row has us did it without us.
Round first_not_missed(const PeerCore& self, const Roster& roster, const Pace& pace) {
  const Round most = told_by_two(self, roster, pace);
  Round at = pace.clock();
  while (at < most) {
    std::optional<Round> least;
    for (const PeerId peer : self.plan.schedule->row(at, self.plan.id).peers) {
      const std::size_t k = *self.find(peer);
      const bool there = self.neighbors[k].two_way && roster.here(k) && !roster.quarantined(k);
      const Round told = std::min(pace.heard(k), most);
      if (there && told > at) least = std::min(least.value_or(told), told);
    }
    if (!least) break;
    at = *least;
  }
  return at;
}

}  // namespace

Pace::Pace(PeerCore& self, const Roster& roster)
    : self_(self), roster_(roster), others_(self.neighbors.size()) {}

bool Pace::begun_without_us() const {
  const Round ahead = furthest_round();
  return self_.round == 0 && ahead > lead_one_way() && !(self_.plan.schedule && ahead <= lead(0));
}

void Pace::heard_round(std::size_t k, Round round) {
  others_[k].round = std::max(others_[k].round, round);
}

/// The two ends of an edge may exchange in rounds of different number after faults. Each edge by
/// itself would not mind; but around a cycle such shifts add up, and then every round waits for
/// parts of earlier ones (a ring of 8 whose shifts sum to 4 keeps half of its speed). So who is
/// behind leaves the edge out for as many rounds as it is behind, while the other end waits; and
/// who is behind all of its neighbours has nobody to do those rounds with, and passes to theirs.
void Pace::align(const std::function<bool(std::size_t k)>& free) {
  std::optional<Round> least;
  for (std::size_t k = 0; k < others_.size(); ++k) {
    // Who is much further ahead has been away from us, or we from it: catch_up() sees to that, if
    // its clock is believed. Else two parts of the fleet go on apart by any number of rounds, and
    // where several edges join them it must be the same on all: so each makes it a multiple of the
    // same number. Around a cycle such shifts add up to such a multiple, too, and it is none, since
    // a cycle of n peers whose shifts add up to n stands.
    if (others_[k].ahead > Round{10} * self_.plan.peers)
      others_[k].ahead %= Round{2} * self_.plan.peers;
    const Round ahead = others_[k].ahead > self_.plan.peers ? 0 : others_[k].ahead;
    if (free(k)) least = std::min(least.value_or(ahead), ahead);
  }
  clock_ += least.value_or(0);
  for (Other& other : others_) other.ahead -= std::min(other.ahead, least.value_or(0));
}

bool Pace::sits_out(std::size_t k) {
  if (others_[k].ahead == 0) return false;
  --others_[k].ahead;
  return true;
}

Round Pace::furthest_round() const {
  Round furthest = clock_;
  for (std::size_t k = 0; k < others_.size(); ++k)
    if (!roster_.quarantined(k)) furthest = std::max(furthest, others_[k].round);
  return furthest;
}

/// A tenth of the run, the last of them after the others have left; and not too many where the run
/// has no end. Where the rows change with the round, peers of different rounds would look for each
/// other in vain; and who pushes on channels of its own has nobody to do them with.
Round Pace::bearable_lag() const {
  constexpr Round most = 1000;
  if (self_.plan.schedule || !self_.plan.channels.empty()) return 0;
  return std::max<Round>(self_.plan.peers, std::min(self_.plan.rounds / 10, most));
}

/// Who is a few rounds behind, as peers along a chain are when one of them stops for a while, does
/// all of its rounds; who is further behind passes over what it has missed. Rounds without any
/// neighbour do not count for the others: a peer whose neighbours have all died runs ahead. Those
/// that a schedule leaves out of the row do. Where the rows change with the round, who is behind
/// by any number meets each partner in another round than that one does, and each waits for the
/// next round of the other: noloco kept two thirds of its pace in half an hour of accidents. So
/// rounds that have been missed there are passed over.
void Pace::catch_up(Round tolerated, Round bearable) {
  Round behind = furthest_round() - clock_;
  const Round missed =
      self_.plan.schedule ? first_not_missed(self_, roster_, *this) - clock_ : Round{0};
  if (missed > 0) {
    behind = missed;
  } else if (behind <= tolerated || (self_.plan.schedule && behind <= lead(clock_))) {
    return;
  }
  clock_ += behind;
  for (Other& other : others_) other.ahead = 0;
  const Round to = std::min(clock_, self_.plan.rounds);
  if (to <= self_.round + bearable) return;  // it did those rounds alone, or will
  const Round passed = to - self_.round;
  self_.round = to;
  passed_over_ += passed;
  self_.journal.note(event::PassedOver{passed, to});
  self_.replica.skip_to({to * self_.plan.local_steps});
}

/// Rounds of a peer that is behind are done with what came meanwhile: they take no time, and say
/// nothing of the pace. Where peers do not catch up their clocks say nothing of that.
bool Pace::abreast() const {
  return !self_.plan.catch_up || furthest_round() <= clock_ + 1 + lead_one_way();
}

/// Alone, a peer waits for nobody, and would be through with its rounds long before the others: it
/// keeps about the pace that it had in company. A little faster where it would do what it missed
/// afterwards. A neighbour that is here is no company while nothing comes of it: it may not have
/// noticed yet that we are back, or owe us what its own neighbours owe it. The pace is the median
/// of the last rounds in which somebody was met: one that took long says little about the next, and
/// one that took no time, since all that it needed had come while this peer stood still, says
/// nothing: whoever believed that did a thousand rounds before somebody was back (found by half an
/// hour of published accidents, experiments/storm). Of the first rounds a neighbour that stood
/// still may be all that was measured; so each round alone believes them half as much.
Task<> Pace::keep(bool lonely) {
  const Time now = self_.world.now();
  if (std::exchange(met_, false)) {
    if (abreast()) lengths_.push_back(now - round_began_);
    if (lengths_.size() > 15) lengths_.pop_front();
    trust_ = 1;
    due_alone_ = now;
  } else if (lonely) {
    const Time length = usual() * (bearable_lag() > 0 ? 4 : 5) / (5 * trust_);
    due_alone_ = std::max(due_alone_, round_began_) + length;
    if (lengths_.size() < 3) trust_ = std::min(2 * trust_, 1 << 20);
    if (due_alone_ > now) co_await rest(due_alone_ - now);
    due_alone_ = std::min(due_alone_, self_.world.now());
  }
  begin_round();
}

/// The first message ends it: were all to rest to the end, each would take the others' rests for
/// the pace, and rest as long (EXTRA was slow for ever on a ring of which two had stood still).
Task<> Pace::rest(Time length) {
  self_.world.after(length, [this, rest = ++rests_] {
    if (rest == rests_) wake();
  });
  Suspend suspend{when_woken_};
  co_await suspend;
}

void Pace::wake() {
  ++rests_;
  if (when_woken_) std::exchange(when_woken_, {})();
}

/// The lower one of the two in the middle.
Time Pace::usual() const {
  if (lengths_.empty()) return Time{0};
  std::vector<Time> lengths(lengths_.begin(), lengths_.end());
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) / 2);
  std::ranges::nth_element(lengths, middle);
  return *middle;
}

Round Pace::lead_one_way() const {
  const auto one_way = [](const Neighbor& k) { return !k.two_way && !k.chained; };
  if (std::ranges::none_of(self_.neighbors, one_way)) return 0;
  const auto& settings = self_.plan.setup->settings;
  const auto overlap = settings.find("overlap");
  return self_.plan.peers *
         (1 + (overlap == settings.end() ? 0 : static_cast<Round>(overlap->second)));
}

Round Pace::lead(Round round) const {
  return longest_lead(*self_.plan.schedule, round, self_.plan.id);
}

}  // namespace gv

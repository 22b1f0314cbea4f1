#include "gossip/core/pace.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "gossip/seam/task.h"
#include "graph/schedule/schedule.h"

namespace gv {
namespace {

constexpr std::size_t most_lengths = 200, many_lengths = 10, least_lengths = 3;
constexpr Time unknown_pace = std::chrono::seconds(3);

/// Returns the furthest round that two present neighbours have reported, or 0: a single one may lie
/// by as many rounds as are tolerated (ClockBound), each time that we meet. A peer with one
/// neighbour believes it, because it has no other partner.
Round told_by_two(const PeerCore& self, const Roster& roster, const Pace& pace) {
  std::vector<Round> told;
  for (std::size_t k = 0; k < self.neighbors.size(); ++k)
    if (roster.here(k) && !roster.quarantined(k)) told.push_back(pace.heard(k));
  std::ranges::sort(told, std::greater<>{});
  if (self.neighbors.size() == 1 && !told.empty()) return told.front();
  return told.size() < 2 ? Round{0} : told[1];
}

/// Returns the first round from `clock` on in which no peer of our row has continued without us, as
/// far as is known. Each peer waits for all of its row, so a peer that is beyond a round whose row
/// contains us did that round without us.
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
    : self_(self), roster_(roster), heard_(self.neighbors.size()) {}

bool Pace::begun_without_us() const {
  const Round ahead = furthest_round();
  return self_.round == 0 && ahead > lead_one_way() && !(self_.plan.schedule && ahead <= lead(0));
}

void Pace::heard_round(std::size_t k, Round round) {
  heard_[k] = std::max(heard_[k], round);
}

/// A neighbour whose half belongs to a later round sends nothing before that round. A peer without
/// any other neighbour to exchange with has nothing to do in the rounds between, and skips them.
void Pace::align(const std::function<std::optional<Round>(std::size_t k)>& first) {
  std::optional<Round> least;
  for (std::size_t k = 0; k < heard_.size(); ++k) {
    const std::optional<Round> round = first(k);
    if (round && believes(k, *round)) least = std::min(least.value_or(*round), *round);
  }
  clock_ = std::max(clock_, least.value_or(clock_));
}

Round Pace::furthest_round() const {
  Round furthest = clock_;
  for (std::size_t k = 0; k < heard_.size(); ++k)
    if (!roster_.quarantined(k)) furthest = std::max(furthest, heard_[k]);
  return furthest;
}

/// Rounds alone do not move the clock: otherwise a peer whose neighbours have all died would make
/// the rest of the fleet skip rounds. Rounds in which a schedule gives the peer no partner do
/// count. If the rows change with the round, a peer with a low clock would miss each partner, so it
/// skips to the first round that no peer of its row has passed.
void Pace::catch_up(Round tolerated) {
  Round behind = furthest_round() - clock_;
  const Round missed =
      self_.plan.schedule ? first_not_missed(self_, roster_, *this) - clock_ : Round{0};
  if (missed > 0) {
    behind = missed;
  } else if (behind <= tolerated || (self_.plan.schedule && behind <= lead(clock_))) {
    behind = 0;
  }
  clock_ += behind;
  pass_to(std::min(clock_, self_.last_round));
}

void Pace::pass_to(Round round) {
  if (round <= self_.round) return;  // the peer has done those rounds alone
  const Round passed = round - self_.round;
  self_.round = round;
  passed_over_ += passed;
  self_.journal.note(event::PassedOver{passed, round});
  self_.replica.skip_to({round * self_.plan.local_steps});
}

/// Alone, a peer waits for no neighbour, and would do thousands of rounds before one is back. So a
/// round that brought nothing takes at least the average time between two meetings. Until three
/// meetings are known, it takes as long as the longest round of this life and at least the
/// deadline or three seconds, whichever is shorter. Rounds alone before a meeting count towards
/// that time, because they waited for a half that came late, and so does a rest that a half has
/// ended. A whole rest does not count: otherwise rests would lengthen rests.
Task<> Pace::keep(bool expected, bool company_waits) {
  const Time took = self_.world.now() - round_began_;
  longest_ = std::max(longest_, took);
  unmet_ += took;
  if (std::exchange(met_, false)) {
    lengths_.push_back(std::exchange(unmet_, Time{0}));
    if (lengths_.size() > most_lengths) lengths_.pop_front();
    hastened_ = false;
  } else if (expected && self_.rules.limits_pace()) {
    const bool at_once = company_waits && !std::exchange(hastened_, true);
    const Time length = at_once ? Time{0} : usual() - took;
    const Time began = self_.world.now();
    co_await rest(length);
    const Time rested = self_.world.now() - began;
    if (rested < length) unmet_ += rested;
  }
  begin_round();
}

/// A half that can be answered ends the rest, because it is company.
Task<> Pace::rest(Time length) {
  if (length <= Time{0}) co_return;
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

/// The mean of many meetings, in which the longest counts as the second longest, because an
/// accident may have caused it. A median or a short window would be too fast: most rounds of a
/// burst take no time, and a peer that stood still receives many rounds' messages at once.
Time Pace::usual() const {
  const Time deadline = self_.plan.deadline;
  if (lengths_.size() < least_lengths) {
    const Time least = deadline > Time{0} ? std::min(deadline, unknown_pace) : unknown_pace;
    return std::max(least, std::min(longest_, unknown_pace));
  }
  std::vector<Time> lengths(lengths_.begin(), lengths_.end());
  std::ranges::nth_element(lengths, lengths.end() - 2);
  if (lengths.size() >= many_lengths) lengths.back() = lengths.end()[-2];
  return std::reduce(lengths.begin(), lengths.end()) / static_cast<std::int64_t>(lengths.size());
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

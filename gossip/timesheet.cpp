#include "gossip/timesheet.h"

#include <algorithm>
#include <utility>

#include "optim/check.h"

namespace gv {

Time Spent::total() const {
  Time sum{0};
  for (const Time time : at) sum += time;
  return sum;
}

Spent& Spent::operator+=(const Spent& more) {
  for (std::size_t s = 0; s < activities; ++s) at[s] += more.at[s];
  hidden_wire += more.hidden_wire;
  return *this;
}

Spent& Spent::operator-=(const Spent& less) {
  for (std::size_t s = 0; s < activities; ++s) at[s] -= less.at[s];
  hidden_wire -= less.hidden_wire;
  return *this;
}

void Timesheet::begin() {
  since_ = world_.now();
  stood_ = world_.stood_still();
  spent_ = {};
  intervals_.clear();
}

void Timesheet::job_offered(Activity activity) {
  if (jobs_.empty()) turn(world_.now());
  jobs_.push_back(activity);
}

void Timesheet::job_done() {
  GV_CHECK(!jobs_.empty(), "a job that is done was offered");
  turn(world_.now());
  jobs_.erase(jobs_.begin());
}

void Timesheet::wait_begins(Time now) {
  GV_CHECK(!waiting_, "the algorithm waits for one message at a time");
  turn(now);
  waiting_ = true;
  wait_began_ = now;
}

void Timesheet::wait_ends(Time now, std::optional<std::size_t> neighbor, std::optional<Time> sent) {
  turn(now);
  waiting_ = false;
  const Time left = sent.value_or(now);
  for (const Interval& each : waited_) {
    const Time middle = std::clamp(left, each.begin, each.end);
    add({Activity::late, each.begin, middle, neighbor});
    add({Activity::wire, middle, each.end, neighbor});
    if (!neighbor) continue;
    waits_[*neighbor].late += middle - each.begin;
    waits_[*neighbor].wire += each.end - middle;
  }
  waited_.clear();
  if (neighbor) waits_[*neighbor].longest = std::max(waits_[*neighbor].longest, now - wait_began_);
  if (sent) spent_.hidden_wire += std::max(Time{0}, wait_began_ - *sent);
}

void Timesheet::arrives(Time sent) {
  if (!waiting_) spent_.hidden_wire += std::max(Time{0}, world_.now() - sent);
}

/// What it does from now on begins. A clock that was set back makes nothing shorter than nothing.
/// Whoever stood still notices it first of all, so that this was at the end of what is past.
void Timesheet::turn(Time now) {
  const Time end = std::max(since_, now);
  const Time stood = world_.stood_still();
  const Time awake = std::clamp(end - (stood - std::exchange(stood_, stood)), since_, end);
  keep({activity(), since_, awake, {}});
  add({Activity::other, awake, end, {}});
  since_ = now;
}

void Timesheet::keep(const Interval& past) {
  if (past.begin == past.end) return;
  if (waiting_ && jobs_.empty()) {
    waited_.push_back(past);
  } else {
    add(past);
  }
}

void Timesheet::add(const Interval& interval) {
  if (interval.begin == interval.end) return;
  spent_[interval.activity] += interval.end - interval.begin;
  if (keeps_) intervals_.push_back(interval);
}

/// A wait that goes on is lateness until the message says otherwise.
Spent Timesheet::spent() const {
  Spent all = spent_;
  const bool waits = waiting_ && jobs_.empty();
  all[waits ? Activity::late : activity()] += std::max(Time{0}, world_.now() - since_);
  for (const Interval& each : waited_) all[Activity::late] += each.end - each.begin;
  return all;
}

std::vector<Interval> Timesheet::take_intervals() {
  return std::exchange(intervals_, {});
}

}  // namespace gv

#include "gossip/timesheet.h"

#include <algorithm>
#include <cmath>
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
  travelled_.clear();
  uncovered_from_ = since_;
}

void Timesheet::job_offered(Activity activity, Lane lane) {
  if (jobs_.empty()) turn(world_.now());
  jobs_.emplace_back(activity, lane);
}

void Timesheet::job_done(Lane lane) {
  const auto job = std::ranges::find(jobs_, lane, &std::pair<Activity, Lane>::second);
  GV_CHECK(job != jobs_.end(), "a job that is done was offered");
  turn(world_.now());
  jobs_.erase(job);
}

void Timesheet::wait_begins(Time now) {
  GV_CHECK(!waiting_, "the algorithm waits for one message at a time");
  turn(now);
  waiting_ = true;
  wait_began_ = now;
}

/// Each stretch of the wait is followed by how long the process stood still in it. When that was
/// nobody knows, so lateness and wire take their shares of it.
void Timesheet::wait_ends(Time now, std::optional<std::size_t> neighbor, std::optional<Time> sent) {
  turn(now);
  waiting_ = false;
  const Time left = sent.value_or(now);
  for (std::size_t k = 0; k + 1 < waited_.size(); k += 2) {
    const auto [begin, end] = std::pair(waited_[k].begin, waited_[k + 1].end);
    if (begin == end) continue;
    const Time woken = waited_[k].end;
    const double awake = in_seconds(woken - begin) / in_seconds(end - begin);
    const Time lateness = std::clamp(left, begin, end) - begin;
    const Time middle =
        std::min(woken, begin + Time{std::llround(static_cast<double>(lateness.count()) * awake)});
    add({Activity::late, begin, middle, neighbor});
    add({Activity::wire, middle, woken, neighbor});
    add(waited_[k + 1]);
    if (!neighbor) continue;
    waits_[*neighbor].late += middle - begin;
    waits_[*neighbor].wire += woken - middle;
  }
  waited_.clear();
  if (neighbor) waits_[*neighbor].longest = std::max(waits_[*neighbor].longest, now - wait_began_);
  if (sent) hide(*sent, wait_began_);
  cover(wait_began_, now);
}

void Timesheet::arrives(Time sent) {
  hide(sent, waiting_ ? wait_began_ : world_.now());
}

void Timesheet::hide(Time sent, Time end) {
  spent_.hidden_wire += cover(sent, end);
}

/// Joins the stretch with those that it touches, and returns the part of it that was in none. No
/// stretch ends before an earlier one does, so those that it touches are the last ones. Of a great
/// many the first is forgotten, and with it the time before its end: nothing counts twice.
Time Timesheet::cover(Time begin, Time end) {
  constexpr std::size_t most_stretches = 256;
  begin = std::max(begin, uncovered_from_);
  if (begin >= end) return Time{0};
  Time fresh = end - begin;
  while (!travelled_.empty() && travelled_.back().second >= begin) {
    const auto [first, last] = travelled_.back();
    travelled_.pop_back();
    fresh -= std::max(Time{0}, std::min(last, end) - std::max(first, begin));
    begin = std::min(begin, first);
    end = std::max(end, last);
  }
  travelled_.emplace_back(begin, end);
  if (travelled_.size() > most_stretches) {
    uncovered_from_ = travelled_.front().second;
    travelled_.pop_front();
  }
  return fresh;
}

/// Begins what it does from now on. A clock that was set back makes nothing shorter than nothing.
/// Whoever stood still notices it first of all, so that this was at the end of what is past.
void Timesheet::turn(Time now) {
  const Time end = std::max(since_, now);
  const Time stood = world_.stood_still();
  const Time awake = std::clamp(end - (stood - std::exchange(stood_, stood)), since_, end);
  const bool waits = waiting_ && jobs_.empty();
  keep({waits ? Activity::late : activity(), since_, awake, {}});
  keep({Activity::other, awake, end, {}});
  since_ = now;
}

void Timesheet::keep(const Interval& past) {
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

/// A wait that continues is lateness until the message says otherwise.
Spent Timesheet::spent() const {
  Spent all = spent_;
  const bool waits = waiting_ && jobs_.empty();
  all[waits ? Activity::late : activity()] += std::max(Time{0}, world_.now() - since_);
  for (const Interval& each : waited_) all[each.activity] += each.end - each.begin;
  return all;
}

std::vector<Interval> Timesheet::take_intervals() {
  return std::exchange(intervals_, {});
}

}  // namespace gv

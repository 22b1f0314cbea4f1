#include "gossip/seam/costs.h"

#include <algorithm>
#include <cmath>

#include "optim/check.h"

namespace gv {
namespace {

constexpr std::string_view costs_name = "costs so far";

constexpr std::size_t single_costs() {
  std::size_t n = 0;
  each_cost([&](auto, auto) { ++n; });
  return n;
}

constexpr std::size_t numbers = activities + 1 + single_costs();
constexpr std::size_t costs_bytes =
    2 * sizeof(std::uint64_t) + costs_name.size() + numbers * sizeof(std::uint64_t);

using CostNumbers = std::array<std::uint64_t, numbers>;

std::uint64_t number_of(Time time) {
  return static_cast<std::uint64_t>(time.count());
}
std::uint64_t number_of(std::uint64_t count) {
  return count;
}

void set(Time& time, std::uint64_t number) {
  time = Time{static_cast<std::int64_t>(number)};
}
void set(std::uint64_t& count, std::uint64_t number) {
  count = number;
}

/// Keeps the longer of the two longest waits.
void add(Time& longest, Time later) {
  longest = std::max(longest, later);
}
void add(std::uint64_t& all, std::uint64_t later) {
  all += later;
}

CostNumbers numbers_of(const Costs& costs) {
  CostNumbers all{};
  auto next = all.begin();
  for (const Time time : costs.spent.at) *next++ = number_of(time);
  *next++ = number_of(costs.spent.hidden_wire);
  each_cost([&](auto, auto member) { *next++ = number_of(costs.*member); });
  return all;
}

/// Returns whether the numbers are possible. Sums of a few such numbers stay within 64 bits: eight
/// years in nanoseconds, and as many bytes.
bool can_be(const CostNumbers& all) {
  constexpr std::uint64_t most = std::uint64_t{1} << 58;
  return std::ranges::all_of(all, [](std::uint64_t n) { return n <= most; });
}

bool has_costs(std::span<const std::byte> state) {
  if (state.size() < costs_bytes) return false;
  StateWriter name;
  name.name(costs_name);
  return std::ranges::equal(state.last(costs_bytes).first(name.bytes().size()), name.bytes());
}

}  // namespace

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

/// Each stretch of the wait is followed by the time that the process stood still in it. When that
/// was is unknown, so lateness and wire take their shares.
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

/// Joins the stretch with those that it touches, and returns the part that was in none. No stretch
/// ends before an earlier one does, so it touches only the last ones. If there are too many, the
/// first is forgotten, and with it the time before its end: nothing counts twice.
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

/// Begins the activity from now on. A clock that was set back makes no interval negative. A process
/// that stood still notices it first of all, so the standstill was at the end of the past stretch.
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

/// Until the message shows otherwise, a wait under way counts as lateness.
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

Costs& Costs::operator+=(const Costs& later) {
  spent += later.spent;
  each_cost([&](auto, auto member) { add(this->*member, later.*member); });
  return *this;
}

void raise(Costs& costs, const Costs& to) {
  for (std::size_t k = 0; k < activities; ++k)
    costs.spent.at.at(k) = std::max(costs.spent.at.at(k), to.spent.at.at(k));
  costs.spent.hidden_wire = std::max(costs.spent.hidden_wire, to.spent.hidden_wire);
  each_cost([&](auto, auto member) { costs.*member = std::max(costs.*member, to.*member); });
}

Time Costs::training_time() const {
  return spent.total() - spent[Activity::evaluate] - spent[Activity::checkpoint];
}

void save_at_end(StateWriter& state, const Costs& costs) {
  state.name(costs_name);
  state.values(numbers_of(costs));
}

std::span<const std::byte> before_costs(std::span<const std::byte> state) {
  return has_costs(state) ? state.first(state.size() - costs_bytes) : state;
}

Costs costs_at_end(std::span<const std::byte> state) {
  if (!has_costs(state)) return {};
  CostNumbers all{};
  StateReader in(state.last(costs_bytes));
  in.name(costs_name);
  in.values(all);
  if (!can_be(all)) return {};
  Costs costs;
  auto next = all.begin();
  for (Time& time : costs.spent.at) set(time, *next++);
  set(costs.spent.hidden_wire, *next++);
  each_cost([&](auto, auto member) { set(costs.*member, *next++); });
  return costs;
}

}  // namespace gv

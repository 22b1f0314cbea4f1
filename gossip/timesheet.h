#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "gossip/world.h"

namespace gv {

/// The use that a peer makes of its time. It does one thing at a time, so that they add up to the
/// time that it lived.
enum class Activity : std::uint8_t {
  compute,     ///< gradients and local steps
  mix,         ///< averaging, the optimizer, sums of collectives
  code,        ///< codecs
  late,        ///< waits for what its neighbour has not sent yet
  wire,        ///< waits for what is on its way: queue, bandwidth, latency
  evaluate,    ///< looks at its model
  checkpoint,  ///< writes down what training can go on from
  other,       ///< the loop itself, pauses, and whatever has no name here
};
inline constexpr std::size_t activities = 8;

/// The names as files have them.
inline constexpr std::array<std::string_view, activities> activity_names{
    "compute", "mix", "code", "late", "wire", "evaluate", "checkpoint", "other"};
inline std::string_view name_of(Activity activity) {
  return activity_names.at(static_cast<std::size_t>(activity));
}

/// The time spent at each activity.
struct Spent {
  std::array<Time, activities> at{};
  /// The time in which a message was on its way to the peer while it did not wait; messages that
  /// travel at the same time count once. No part of the sum.
  Time hidden_wire{0};

  Time& operator[](Activity activity) { return at[static_cast<std::size_t>(activity)]; }
  Time operator[](Activity activity) const { return at[static_cast<std::size_t>(activity)]; }
  Time total() const;
  Spent& operator+=(const Spent& more);
  Spent& operator-=(const Spent& less);
};

/// A stretch of time at one activity.
struct Interval {
  Activity activity = Activity::other;
  Time begin{0}, end{0};
  std::optional<std::size_t> neighbor{};  ///< its place among them, for whom the peer waited
};

/// The time that was waited for one neighbour.
struct Waits {
  Time late{0}, wire{0}, longest{0};
};

/// Keeps the book of where a peer's time goes, by its own clock. Jobs of a lane run in the order in
/// which they were offered, so the oldest of all says what the peer does; while there is none it
/// waits for a message, or is at something else. Which part of a wait was the neighbour's lateness
/// is known at its end, from when the message was sent. While the process stands still it is at
/// nothing that has a name, whatever it had begun: what was sent to it meanwhile was not on its
/// way.
class Timesheet {
 public:
  Timesheet(const World& world, std::size_t neighbors) : world_(world), waits_(neighbors) {}

  /// Life begins; what was before does not count.
  void begin();
  void job_offered(Activity activity, Lane lane = Lane::home);
  void job_done(Lane lane = Lane::home);  ///< the oldest of the lane
  /// Begins a wait at `now`; the algorithm waits for one message at a time.
  void wait_begins(Time now);
  /// `neighbor`: for whom the peer waited, or who ended the wait for anybody. `sent`: when the
  /// message that came was; nothing: none came.
  void wait_ends(Time now, std::optional<std::size_t> neighbor, std::optional<Time> sent);
  /// A message has come that was sent then.
  void arrives(Time sent);

  /// Returns the time spent up to now.
  Spent spent() const;
  const std::vector<Waits>& waits() const { return waits_; }  ///< by neighbour
  /// The intervals that have ended since the last call, in order, if kept at all.
  void keep_intervals(bool keep) { keeps_ = keep; }
  std::vector<Interval> take_intervals();

 private:
  Activity activity() const { return jobs_.empty() ? Activity::other : jobs_.front().first; }
  void turn(Time now);
  void keep(const Interval& past);
  void add(const Interval& interval);
  void hide(Time sent, Time end);
  Time cover(Time begin, Time end);

  const World& world_;
  std::vector<Waits> waits_;
  Spent spent_;
  Time since_{0};                                ///< at the present activity
  Time stood_{0};                                ///< World::stood_still(), as it was then
  std::vector<std::pair<Activity, Lane>> jobs_;  ///< offered and not done, the oldest first; few
  bool waiting_ = false;
  Time wait_began_{0};
  std::vector<Interval> waited_;  ///< of this wait, as far as no job was done meanwhile
  /// The stretches in which messages travelled, hidden or waited for: ascending, apart from each
  /// other, none before `uncovered_from_`.
  std::deque<std::pair<Time, Time>> travelled_;
  Time uncovered_from_{0};
  bool keeps_ = false;
  std::vector<Interval> intervals_;
};

}  // namespace gv

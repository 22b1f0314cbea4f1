#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "gossip/message.h"
#include "gossip/world.h"
#include "optim/state.h"

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

/// The costs of a peer's part of a run, up to the end of a round. A checkpoint holds it, so that a
/// run that goes on from there counts on where it stopped.
struct Costs {
  Spent spent{};
  std::uint64_t sent_bytes = 0;      ///< on the wire
  std::uint64_t model_bytes = 0;     ///< of them: payloads
  std::uint64_t repeated_bytes = 0;  ///< beside them: sent again
  std::uint64_t samples = 0;         ///< trained on
  Time longest_wait{0};              ///< for a neighbour's half
  Round passed_over = 0;             ///< rounds without it

  /// Adds what came later. Of the waits the longest counts.
  Costs& operator+=(const Costs& later);
  /// The time without evaluations and checkpoints.
  Time training_time() const;
};

/// Calls `visit(name, member)` for each cost that is one number, in the order of a checkpoint. All
/// that adds, keeps or tells costs goes through here, so that a new one is a member and a line.
template <class Visit>
constexpr void each_cost(const Visit& visit) {
  visit("sent_bytes", &Costs::sent_bytes);
  visit("model_bytes", &Costs::model_bytes);
  visit("repeated_bytes", &Costs::repeated_bytes);
  visit("samples", &Costs::samples);
  visit("longest_wait_ns", &Costs::longest_wait);
  visit("passed_over", &Costs::passed_over);
}

/// Raises each cost to at least the other's.
void raise(Costs& costs, const Costs& to);

/// Writes them as a training state's last words: what is in front is read as it always was.
void save_at_end(StateWriter& state, const Costs& costs);
/// Reads them from a training state; nothing where an earlier version of the program wrote it.
/// Numbers that no run can have count as nothing, too.
Costs costs_at_end(std::span<const std::byte> state);

/// The training state in front of the costs (costs.h), which is the replica's own: all of it where
/// there are none.
std::span<const std::byte> before_costs(std::span<const std::byte> state);

}  // namespace gv

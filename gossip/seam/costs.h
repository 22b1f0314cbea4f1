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

#include "gossip/seam/message.h"
#include "gossip/seam/world.h"
#include "optim/state.h"

namespace gv {

/// The use that a peer makes of its time. A peer does one thing at a time, so the activities add up
/// to its lifetime.
enum class Activity : std::uint8_t {
  compute,     ///< gradients and local steps
  mix,         ///< averaging, the optimizer, sums of collectives
  code,        ///< codecs
  late,        ///< waits for a message that the neighbour has not sent yet
  wire,        ///< waits for a message that is on its way: queue, bandwidth, latency
  evaluate,    ///< evaluates its model
  checkpoint,  ///< saves the state from which training can resume
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
  /// The time in which a message was on its way to the peer while the peer did not wait; concurrent
  /// messages count once. Not part of the sum.
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
  std::optional<std::size_t> neighbor{};  ///< index of the neighbour for which the peer waited
};

/// The time spent waiting for one neighbour.
struct Waits {
  Time late{0}, wire{0}, longest{0};
};

/// Keeps account of a peer's time, by its own clock. Jobs of a lane run in the order in which they
/// were offered, so the oldest job determines the activity; without a job the peer waits for a
/// message or does something else. Which part of a wait was the neighbour's lateness is known at
/// its end, from the time at which the message was sent. While the process stands still its
/// activity is `other`, whatever job had begun, and messages sent to it during that time do not
/// count as under way.
class Timesheet {
 public:
  Timesheet(const World& world, std::size_t neighbors) : world_(world), waits_(neighbors) {}

  /// Life begins: earlier time does not count.
  void begin();
  void job_offered(Activity activity, Lane lane = Lane::home);
  void job_done(Lane lane = Lane::home);  ///< the oldest job of the lane
  /// Begins a wait at `now`; the algorithm waits for one message at a time.
  void wait_begins(Time now);
  /// `neighbor`: the neighbour for which the peer waited, or the sender that ended a wait for any
  /// message. `sent`: time at which the message was sent; none if no message came.
  void wait_ends(Time now, std::optional<std::size_t> neighbor, std::optional<Time> sent);
  /// A message has come that was sent at `sent`.
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
  Time since_{0};                                ///< begin of the present activity
  Time stood_{0};                                ///< World::stood_still() at that time
  std::vector<std::pair<Activity, Lane>> jobs_;  ///< offered and not done, the oldest first; few
  bool waiting_ = false;
  Time wait_began_{0};
  std::vector<Interval> waited_;  ///< intervals of this wait in which no job was done
  /// The stretches in which messages travelled, hidden or waited for: ascending, apart from each
  /// other, none before `uncovered_from_`.
  std::deque<std::pair<Time, Time>> travelled_;
  Time uncovered_from_{0};
  bool keeps_ = false;
  std::vector<Interval> intervals_;
};

/// The costs of a peer's part of a run, up to the end of a round. A checkpoint holds them, so that
/// a resumed run continues the count.
struct Costs {
  Spent spent{};
  std::uint64_t sent_bytes = 0;      ///< on the wire
  std::uint64_t model_bytes = 0;     ///< payloads, included in sent_bytes
  std::uint64_t repeated_bytes = 0;  ///< sent again, not in sent_bytes
  std::uint64_t samples = 0;         ///< number of samples trained on
  Time longest_wait{0};              ///< for a neighbour's half
  Round passed_over = 0;             ///< rounds that the peer took no part in

  /// Adds later costs; keeps the longer of the two longest waits.
  Costs& operator+=(const Costs& later);
  /// Returns the time without evaluations and checkpoints.
  Time training_time() const;
};

/// Calls `visit(name, member)` for each cost that is one number, in the order of a checkpoint.
/// Everything that adds, keeps or reports costs uses this function, so a new cost needs one member
/// and one line.
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

/// Appends the costs to a training state, so that the part in front is read as before.
void save_at_end(StateWriter& state, const Costs& costs);
/// Returns the costs at the end of a training state; zeros if an earlier version of the program
/// wrote the state, or if the numbers are impossible.
Costs costs_at_end(std::span<const std::byte> state);

/// Returns the training state without the costs at its end: the replica's own part.
std::span<const std::byte> before_costs(std::span<const std::byte> state);

}  // namespace gv

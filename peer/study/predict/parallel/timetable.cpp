#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gossip/seam/stage.h"
#include "optim/check.h"
#include "peer/study/predict/parallel/strategy.h"

namespace gv {
namespace {

constexpr double not_yet = std::numeric_limits<double>::infinity();

/// A card or a direction of a link, which sends one message after the other.
struct Line {
  double rate = 0;
  double free = 0;

  /// Returns the end of sending these bytes, which may begin at `now`.
  double send(double bytes, double now) {
    if (rate <= 0) return now;
    free = std::max(free, now) + bytes / rate;
    return free;
  }
};

class Walk {
 public:
  /// `stream`: counts minibatches, with a step after each.
  Walk(std::span<const TimedStage> stages,
       std::span<const TimedHop> hops,
       std::uint32_t m,
       bool stream)
      : stages_(stages), hops_(hops), microbatches_(m), stream_(stream) {
    GV_CHECK_EQUAL(hops.size() + 1, stages.size(), "a hop between two stages");
    for (const TimedStage& stage : stages) {
      Course course;
      course.turns = turns(m, stage.window);
      course.activations.assign(m, not_yet);
      course.gradients.assign(m, not_yet);
      course.card.rate = stage.card;
      courses_.push_back(std::move(course));
    }
    std::ranges::fill(courses_.front().activations, 0.0);
    std::ranges::fill(courses_.back().gradients, 0.0);
    for (const TimedHop& hop : hops) {
      ahead_.push_back({.rate = hop.bandwidth});
      back_.push_back({.rate = hop.bandwidth});
    }
  }

  Timetable flushed() {
    Timetable table{.gradient = walk()};
    double busy = 0;
    for (const TimedStage& stage : stages_)
      busy += microbatches_ * (stage.forward + stage.backward);
    table.round = courses_.front().free + stages_.front().step;
    table.idle = 1 - busy / (table.gradient * static_cast<double>(courses_.size()));
    return table;
  }

  Timetable streamed() {
    walk();
    Timetable table{.gradient = courses_.front().free};
    const std::uint32_t third = microbatches_ / 3;
    table.round = (back_at_[2 * third] - back_at_[third]) / third;
    double busy = 0;
    for (const TimedStage& stage : stages_) busy += stage.forward + stage.backward + stage.step;
    table.idle = 1 - busy / (table.round * static_cast<double>(courses_.size()));
    return table;
  }

 private:
  /// Returns the end of all turns.
  double walk() {
    bool moves = true;
    while (moves) {
      moves = false;
      for (std::size_t s = 0; s < courses_.size(); ++s)
        while (turn(s)) moves = true;
    }
    double end = 0;
    for (const Course& course : courses_) {
      GV_CHECK_EQUAL(course.next, course.turns.size(), "a chain never stands still");
      end = std::max(end, course.free);
    }
    return end;
  }

  struct Course {
    std::vector<StageTurn> turns;
    std::size_t next = 0;
    double free = 0;                             ///< end of its last turn
    std::vector<double> activations, gradients;  ///< arrival times
    Line card;
  };

  /// Takes the next turn of stage s; false if there is none or its input has no time yet.
  bool turn(std::size_t s) {
    Course& course = courses_[s];
    if (course.next == course.turns.size()) return false;
    const auto [forward, k] = course.turns[course.next];
    const double came = forward ? course.activations[k] : course.gradients[k];
    if (came == not_yet) return false;
    ++course.next;
    course.free =
        std::max(course.free, came) + (forward ? stages_[s].forward : stages_[s].backward);
    const std::uint32_t part = stream_ ? 0 : k;  // number in its frame
    if (forward && s + 1 < courses_.size())
      courses_[s + 1].activations[k] = send(course, ahead_[s], hops_[s], hops_[s].ahead.of(part));
    if (!forward && s > 0)
      courses_[s - 1].gradients[k] =
          send(course, back_[s - 1], hops_[s - 1], hops_[s - 1].back.of(part));
    if (!forward && s == 0) back_at_.push_back(course.free);
    if (!forward && stream_) course.free += stages_[s].step;
    return true;
  }

  /// Sends through card and link at once, as flowing bytes: the slower one decides.
  static double send(Course& from, Line& link, const TimedHop& hop, double bytes) {
    const double now = from.free;
    const double begin = hop.inside || from.card.rate <= 0 ? now : std::max(now, from.card.free);
    const double through_card = hop.inside ? now : from.card.send(bytes, now);
    return std::max(through_card, link.send(bytes, begin)) + hop.latency;
  }

  std::span<const TimedStage> stages_;
  std::span<const TimedHop> hops_;
  std::uint32_t microbatches_;
  bool stream_;
  std::vector<Course> courses_;
  std::vector<Line> ahead_, back_;  ///< one per hop
  std::vector<double> back_at_;     ///< times of return to the first stage
};

}  // namespace

Timetable time_chain(std::span<const TimedStage> stages,
                     std::span<const TimedHop> hops,
                     std::uint32_t microbatches) {
  return Walk(stages, hops, microbatches, false).flushed();
}

Timetable time_stream(std::span<const TimedStage> stages,
                      std::span<const TimedHop> hops,
                      std::uint32_t minibatches) {
  GV_CHECK(minibatches >= 3, "some are in the middle");
  return Walk(stages, hops, minibatches, true).streamed();
}

}  // namespace gv

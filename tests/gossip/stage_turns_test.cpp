#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gossip/seam/stage.h"
#include "optim/rng.h"

namespace gv {
namespace {

std::string text_of(const std::vector<StageTurn>& turns) {
  std::string text;
  for (const StageTurn& turn : turns)
    text += (turn.forward ? " F" : " B") + std::to_string(turn.microbatch);
  return text;
}

TEST(Chain, TurnsOfTheKnownSchedules) {
  EXPECT_EQ(text_of(turns(3, 0)), " F0 B0 F1 B1 F2 B2");
  EXPECT_EQ(text_of(turns(4, 1)), " F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(text_of(turns(3, 2)), " F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(text_of(turns(1, 0)), " F0 B0");
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(turns(3, most), turns(3, 2));
}

TEST(Chain, WindowsGrowTowardsTheFirstStage) {
  for (std::uint32_t stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(window_of(stage, 4, 1, 8), 3 - stage);  // one forward, one backward
    EXPECT_EQ(window_of(stage, 4, 2, 8), 2 * (3 - stage));
    EXPECT_EQ(window_of(stage, 4, 8, 8), stage == 3 ? 0U : 7U);  // GPipe
    EXPECT_EQ(window_of(stage, 4, 1, 1), 0U);
  }
  EXPECT_EQ(window_of(0, 1, 5, 8), 0U);
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(window_of(0, most, most, most), most - 1);
}

/// The rule itself, for every window: each microbatch once and in order both ways, as far ahead as
/// the window allows, and no farther.
TEST(Chain, EachMicrobatchGoesForwardAndComesBackOnce) {
  for (std::uint32_t m = 1; m <= 12; ++m) {
    for (std::uint32_t window = 0; window <= m; ++window) {
      std::uint32_t forward = 0;
      std::uint32_t backward = 0;
      for (const StageTurn& turn : turns(m, window)) {
        if (turn.forward) {
          EXPECT_EQ(turn.microbatch, forward++);
          EXPECT_LE(forward - backward, window + 1) << "under way";
        } else {
          EXPECT_EQ(forward, std::min(m, backward + window + 1));
          EXPECT_EQ(turn.microbatch, backward++);
        }
      }
      EXPECT_EQ(forward, m);
      EXPECT_EQ(backward, m);
    }
  }
}

/// Stages that take their turns when their inputs have arrived. The order is random: any stage that
/// can continue may be next.
class DrawnChain {
 public:
  DrawnChain(std::uint32_t microbatches, const std::vector<std::uint32_t>& windows)
      : windows_(windows),
        done_(windows.size()),
        forward_(windows.size()),
        backward_(windows.size()) {
    for (const std::uint32_t window : windows) turns_.push_back(turns(microbatches, window));
  }

  /// Returns whether all stages finish.
  bool run(Rng& rng) {
    for (;;) {
      std::vector<std::size_t> ready;
      std::size_t ended = 0;
      for (std::size_t s = 0; s < turns_.size(); ++s) {
        if (done_[s] == turns_[s].size()) {
          ++ended;
        } else if (has_come(s)) {
          ready.push_back(s);
        }
      }
      if (ready.empty()) return ended == turns_.size();
      take_turn(ready[rng.below(ready.size())]);
    }
  }

 private:
  bool has_come(std::size_t s) const {
    const StageTurn& turn = turns_[s][done_[s]];
    if (turn.forward) return s == 0 || forward_[s - 1] > turn.microbatch;
    return s + 1 == turns_.size() || backward_[s + 1] > turn.microbatch;
  }
  void take_turn(std::size_t s) {
    ++(turns_[s][done_[s]++].forward ? forward_ : backward_)[s];
    if (s + 1 < turns_.size()) {
      EXPECT_LE(forward_[s] - forward_[s + 1], windows_[s] + 1) << "values that wait";
      EXPECT_LE(backward_[s + 1] - backward_[s], windows_[s] + 1) << "gradients that wait";
    }
  }

  std::vector<std::uint32_t> windows_;
  std::vector<std::vector<StageTurn>> turns_;
  std::vector<std::size_t> done_;
  std::vector<std::uint32_t> forward_, backward_;  ///< number of each that a stage has done
};

TEST(Chain, NeverStandsStillWithTheWindowsOfItsStages) {
  Rng rng(31);
  for (int draw = 0; draw < 20'000; ++draw) {
    const auto stages = static_cast<std::uint32_t>(1 + rng.below(8));
    const auto microbatches = static_cast<std::uint32_t>(1 + rng.below(16));
    const auto ahead = static_cast<std::uint32_t>(1 + rng.below(microbatches));
    std::vector<std::uint32_t> windows;
    for (std::uint32_t s = 0; s < stages; ++s)
      windows.push_back(window_of(s, stages, ahead, microbatches));
    ASSERT_TRUE(DrawnChain(microbatches, windows).run(rng))
        << stages << " stages, " << microbatches << " microbatches, ahead " << ahead;
  }
}

TEST(Chain, StandsStillWhereAWindowGrowsAlongIt) {
  Rng rng(32);
  int stuck = 0;
  for (int draw = 0; draw < 5'000; ++draw) {
    const auto microbatches = static_cast<std::uint32_t>(1 + rng.below(8));
    std::vector<std::uint32_t> windows(1 + rng.below(5));
    for (std::uint32_t& window : windows)
      window = static_cast<std::uint32_t>(rng.below(microbatches));
    const bool grows = !std::ranges::is_sorted(windows, std::greater());
    ASSERT_EQ(DrawnChain(microbatches, windows).run(rng), !grows);
    stuck += grows ? 1 : 0;
  }
  EXPECT_GT(stuck, 1'000);
}

/// As DrawnChain, with copies of stages, each of which takes its own turns.
class DrawnCopies {
 public:
  DrawnCopies(std::uint32_t microbatches,
              const std::vector<std::uint32_t>& windows,
              const std::vector<PeerId>& copies)
      : windows_(windows), copies_(copies) {
    for (std::size_t s = 0; s < windows.size(); ++s) {
      forward_.emplace_back(microbatches);
      backward_.emplace_back(microbatches);
      for (PeerId c = 0; c < copies[s]; ++c)
        workers_.push_back({s, turns_of_copy(turns(microbatches, windows[s]), copies[s], c), 0});
    }
  }

  /// Returns whether all copies finish.
  bool run(Rng& rng) {
    for (;;) {
      std::vector<Worker*> ready;
      bool ended = true;
      for (Worker& worker : workers_) {
        if (worker.done == worker.turns.size()) continue;
        ended = false;
        if (has_come(worker)) ready.push_back(&worker);
      }
      if (ready.empty()) return ended;
      take_turn(*ready[rng.below(ready.size())]);
    }
  }

 private:
  struct Worker {
    std::size_t stage;
    std::vector<StageTurn> turns;
    std::size_t done;
  };

  bool has_come(const Worker& worker) const {
    const auto [goes_forward, k] = worker.turns[worker.done];
    if (goes_forward) return worker.stage == 0 || forward_[worker.stage - 1][k];
    return worker.stage + 1 == copies_.size() || backward_[worker.stage + 1][k];
  }
  void take_turn(Worker& worker) {
    const auto [goes_forward, k] = worker.turns[worker.done++];
    std::vector<bool>& there = (goes_forward ? forward_ : backward_)[worker.stage];
    EXPECT_FALSE(there[k]) << "a microbatch is one copy's";
    there[k] = true;
    // Values in a sender's channel (chain.cpp) that the next stage has not taken.
    std::uint32_t waiting = 0;
    for (std::uint32_t j = k % copies_[worker.stage]; j < there.size(); j += copies_[worker.stage])
      if (goes_forward && there[j] && worker.stage + 1 < copies_.size())
        waiting += forward_[worker.stage + 1][j] ? 0 : 1;
    EXPECT_LE(waiting, windows_[worker.stage] + 1);
  }

  std::vector<std::uint32_t> windows_;
  std::vector<PeerId> copies_;
  std::vector<Worker> workers_;
  std::vector<std::vector<bool>> forward_, backward_;  ///< by stage and microbatch
};

std::vector<PeerId> draw_copies(Rng& rng, std::size_t stages, std::uint32_t microbatches) {
  std::vector<PeerId> copies(stages);
  for (PeerId& count : copies)
    count = static_cast<PeerId>(1 + rng.below(std::min(4U, microbatches)));
  return copies;
}

TEST(Chain, WithCopiesNeverStandsStill) {
  Rng rng(33);
  for (int draw = 0; draw < 20'000; ++draw) {
    const auto stages = static_cast<std::uint32_t>(1 + rng.below(6));
    const auto microbatches = static_cast<std::uint32_t>(1 + rng.below(16));
    const auto ahead = static_cast<std::uint32_t>(1 + rng.below(microbatches));
    std::vector<std::uint32_t> windows;
    for (std::uint32_t s = 0; s < stages; ++s)
      windows.push_back(window_of(s, stages, ahead, microbatches));
    const std::vector<PeerId> copies = draw_copies(rng, stages, microbatches);
    ASSERT_TRUE(DrawnCopies(microbatches, windows, copies).run(rng))
        << stages << " stages, " << microbatches << " microbatches, ahead " << ahead;
  }
}

/// Drawn chains whose windows grow from stage to stage can stand still.
TEST(Chain, WithCopiesStandsStillWhereAWindowGrowsAlongIt) {
  Rng rng(34);
  int stuck = 0;
  for (int draw = 0; draw < 5'000; ++draw) {
    const auto microbatches = static_cast<std::uint32_t>(1 + rng.below(8));
    std::vector<std::uint32_t> windows(1 + rng.below(5));
    for (std::uint32_t& window : windows)
      window = static_cast<std::uint32_t>(rng.below(microbatches));
    const bool grows = !std::ranges::is_sorted(windows, std::greater());
    const std::vector<PeerId> copies = draw_copies(rng, windows.size(), microbatches);
    const bool ends = DrawnCopies(microbatches, windows, copies).run(rng);
    ASSERT_TRUE(ends || grows);
    stuck += ends ? 0 : 1;
  }
  EXPECT_GT(stuck, 500);
}

/// Returns when the last of equal stages is done, on a network without delay; backward takes twice
/// as long as forward.
double seconds_of_stages(std::uint32_t stages, std::uint32_t microbatches, std::uint32_t ahead) {
  std::vector<std::vector<StageTurn>> order;
  for (std::uint32_t s = 0; s < stages; ++s)
    order.push_back(turns(microbatches, window_of(s, stages, ahead, microbatches)));
  std::vector<std::size_t> done(stages);
  std::vector<double> free(stages);
  std::vector<std::vector<double>> forward(stages), backward(stages);  // time when each was done
  for (std::size_t left = std::size_t{2} * stages * microbatches; left > 0;) {
    for (std::size_t s = 0; s < stages; ++s) {
      if (done[s] == order[s].size()) continue;
      const auto [goes_forward, k] = order[s][done[s]];
      const bool from_outside = goes_forward ? s > 0 : s + 1 < stages;
      const std::vector<double>& source = !from_outside  ? free
                                          : goes_forward ? forward[s - 1]
                                                         : backward[s + 1];
      if (from_outside && source.size() <= k) continue;
      free[s] = std::max(free[s], from_outside ? source[k] : 0) + (goes_forward ? 1 : 2);
      (goes_forward ? forward : backward)[s].push_back(free[s]);
      ++done[s];
      --left;
    }
  }
  return *std::ranges::max_element(free);
}

/// Idle for (p - 1) / (m + p - 1) of the time: arXiv:1811.06965, section 2.3. A window of one
/// microbatch per later stage is enough if messages take no time.
TEST(Chain, EqualStagesAreIdleAsLittleAsTheyCanBe) {
  for (std::uint32_t p = 1; p <= 8; ++p)
    for (const std::uint32_t m : {p, 2 * p, 4 * p})
      for (const std::uint32_t ahead : {1U, 2U, m})
        EXPECT_EQ(seconds_of_stages(p, m, ahead), 3.0 * (m + p - 1))
            << p << ", " << m << ", " << ahead;
}

}  // namespace
}  // namespace gv

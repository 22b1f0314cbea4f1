#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

namespace gv {

/// Watches a count of jobs done: a process that lives and answers may still be stuck in one.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `jobs` are done at `now`; `working`: another one is at hand. How long it has been, as far as
  /// was seen.
  Clock::duration at_hand(std::uint64_t jobs, bool working, Clock::time_point now) {
    if (jobs != jobs_ || !working) {
      jobs_ = jobs;
      since_ = now;
      told_ = false;
    }
    return now - since_;
  }
  /// True once for each job.
  bool first_word() { return !std::exchange(told_, true); }

 private:
  std::uint64_t jobs_ = 0;
  Clock::time_point since_ = Clock::now();
  bool told_ = false;
};

}  // namespace gv

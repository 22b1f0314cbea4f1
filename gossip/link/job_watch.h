#pragma once

#include <cstdint>
#include <utility>

#include "gossip/world.h"

namespace gv {

/// Jobs of arithmetic that a process has done, and whether it is on another one.
struct JobCount {
  std::uint64_t jobs = 0;
  bool working = false;
};

/// Watches a count of jobs: a process that lives and answers may still be stuck in one.
class JobWatch {
 public:
  /// Returns whether there is a job at hand, or one was done since at_hand() was last asked.
  bool gets_on(const JobCount& work) const { return work.working || work.jobs != jobs_; }
  /// Returns how long the job at hand has been going on at `now`, as far as was seen.
  Time at_hand(const JobCount& work, Time now) {
    if (work.jobs != jobs_ || !work.working) {
      jobs_ = work.jobs;
      since_ = now;
      told_ = false;
    }
    return now - since_;
  }
  /// True once for each job.
  bool first_word() { return !std::exchange(told_, true); }

 private:
  std::uint64_t jobs_ = 0;
  Time since_{0};
  bool told_ = false;
};

}  // namespace gv

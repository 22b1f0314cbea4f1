#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "peer/wire/tcp/arithmetic.h"

namespace gv {

/// Arithmetic on a thread of its own.
class ComputeThread : public Arithmetic {
 public:
  /// `compute_threads`: what one job may use.
  explicit ComputeThread(int compute_threads);
  ~ComputeThread() override;
  ComputeThread(const ComputeThread&) = delete;
  ComputeThread& operator=(const ComputeThread&) = delete;

  void submit(std::function<void()> job, std::function<void()> ended) override;
  void end() override;
  std::uint64_t done() const override { return done_; }
  bool working() const override { return submitted_ > done_; }

 private:
  using Job = std::pair<std::function<void()>, std::function<void()>>;
  void work(int compute_threads);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::uint64_t submitted_ = 0;  ///< of the thread that submits
  std::atomic<std::uint64_t> done_ = 0;
  std::thread thread_;
};

}  // namespace gv

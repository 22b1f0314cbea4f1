#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace gv {

/// A thread that does the arithmetic of one lane, job after job, while the loop serves the network.
class ComputeThread {
 public:
  /// `compute_threads`: what one job may use.
  explicit ComputeThread(int compute_threads);
  /// Ends after the job at hand; what waits is dropped.
  ~ComputeThread();
  ComputeThread(const ComputeThread&) = delete;
  ComputeThread& operator=(const ComputeThread&) = delete;

  void submit(std::function<void()> job);

  std::uint64_t done() const { return done_; }         ///< jobs, since the start
  bool working() const { return submitted_ > done_; }  ///< on a job

 private:
  void work(int compute_threads);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::uint64_t submitted_ = 0;  ///< of the thread that submits
  std::atomic<std::uint64_t> done_ = 0;
  std::thread thread_;
};

}  // namespace gv

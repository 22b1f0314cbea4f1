#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gv {

/// A few threads that run the jobs of one instant together with the caller. Each job touches its
/// own peer only, so the number of threads changes no bit. The caller begins at once and waits for
/// nobody who has not begun: on a busy machine a thread may
/// wake long after the instant is over.
class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls job(0) ... job(n - 1), each once, on any thread; returns when all are done.
  void run(std::size_t n, const std::function<void(std::size_t)>& job);

 private:
  void work();
  void claim();

  std::mutex mutex_;  ///< of what follows, but next_
  std::condition_variable wake_;
  std::condition_variable all_done_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::size_t jobs_ = 0;
  std::size_t stride_ = 1;
  std::atomic<std::size_t> next_ = 0;
  std::uint64_t instant_ = 0;
  bool open_ = false;        ///< who wakes now may still help
  std::size_t helping_ = 0;  ///< threads with jobs of this instant
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gv

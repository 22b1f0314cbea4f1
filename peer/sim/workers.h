#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace gv {

/// A few threads that run the jobs of one instant together with the caller. Each job touches its
/// own peer only, so the number of threads changes no bit.
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

  std::barrier<> start_;
  std::barrier<> end_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::size_t jobs_ = 0;
  std::size_t stride_ = 1;
  std::atomic<std::size_t> next_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gv

#include "peer/sim/workers.h"

#include <algorithm>

#include "optim/train/host_replica.h"

namespace gv {

Workers::Workers(int threads) {
  set_compute_threads(1);
  for (int t = 1; t < threads; ++t) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(std::size_t n, const std::function<void(std::size_t)>& job) {
  if (threads_.empty() || n == 1) {
    for (std::size_t i = 0; i < n; ++i) job(i);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    jobs_ = n;
    stride_ = std::clamp<std::size_t>(n / (8 * (threads_.size() + 1)), 1, 64);
    next_ = 0;
    ++instant_;
    open_ = true;
  }
  wake_.notify_all();
  claim();
  std::unique_lock lock(mutex_);
  open_ = false;
  all_done_.wait(lock, [this] { return helping_ == 0; });
}

void Workers::work() {
  set_compute_threads(1);
  std::uint64_t helped = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || (open_ && instant_ != helped); });
    if (stopping_) return;
    helped = instant_;
    ++helping_;
    lock.unlock();
    claim();
    lock.lock();
    if (--helping_ == 0) all_done_.notify_one();
  }
}

void Workers::claim() {
  for (;;) {
    const std::size_t first = next_.fetch_add(stride_);
    if (first >= jobs_) return;
    const std::size_t last = std::min(jobs_, first + stride_);
    for (std::size_t i = first; i < last; ++i) (*job_)(i);
  }
}

}  // namespace gv

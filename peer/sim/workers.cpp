#include "peer/sim/workers.h"

#include <algorithm>

#include "optim/host_replica.h"

namespace gv {

Workers::Workers(int threads) : start_(std::max(1, threads)), end_(std::max(1, threads)) {
  set_compute_threads(1);
  for (int t = 1; t < threads; ++t) threads_.emplace_back([this] { work(); });
}

Workers::~Workers() {
  stopping_ = true;
  if (!threads_.empty()) start_.arrive_and_wait();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(std::size_t n, const std::function<void(std::size_t)>& job) {
  job_ = &job;
  jobs_ = n;
  stride_ = std::clamp<std::size_t>(n / (8 * (threads_.size() + 1)), 1, 64);
  next_ = 0;
  if (threads_.empty() || n == 1) {
    for (std::size_t i = 0; i < n; ++i) job(i);
    return;
  }
  start_.arrive_and_wait();
  claim();
  end_.arrive_and_wait();
}

void Workers::work() {
  set_compute_threads(1);
  for (;;) {
    start_.arrive_and_wait();
    if (stopping_) return;
    claim();
    end_.arrive_and_wait();
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

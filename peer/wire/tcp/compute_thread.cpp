#include "peer/wire/tcp/compute_thread.h"

#include <utility>

#include <pthread.h>

#include "optim/host/slices.h"

namespace gv {

ComputeThread::ComputeThread(int compute_threads)
    : thread_([this, compute_threads] { work(compute_threads); }) {}

ComputeThread::~ComputeThread() {
  end();
}

void ComputeThread::end() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ComputeThread::submit(std::function<void()> job, std::function<void()> ended) {
  ++submitted_;
  {
    const std::lock_guard lock(mutex_);
    jobs_.emplace_back(std::move(job), std::move(ended));
  }
  wake_.notify_one();
}

void ComputeThread::work(int compute_threads) {
  ::pthread_setname_np(::pthread_self(), "arithmetic");
  set_compute_threads(compute_threads);
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.first();
    job.second();
    ++done_;
  }
}

}  // namespace gv

#include "peer/wire/tcp/lent_thread.h"

#include <cfenv>

#include <pthread.h>

#include "optim/host/slices.h"

namespace gv {
namespace {

/// Sets the default floating point mode on a thread of the program, which may have another rounding
/// or flush denormals to zero: the two ends of a flow would then not be opposite.
class OwnFloatingPoint {
 public:
  OwnFloatingPoint() {
    std::fegetenv(&theirs_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~OwnFloatingPoint() { std::fesetenv(&theirs_); }
  OwnFloatingPoint(const OwnFloatingPoint&) = delete;
  OwnFloatingPoint& operator=(const OwnFloatingPoint&) = delete;

 private:
  std::fenv_t theirs_{};
};

}  // namespace

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

void HeldTurns::ask(Turn turn) {
  const std::lock_guard lock(mutex_);
  if (!closed_) turn_ = turn;
  if (closed_ && turn == Turn::evaluate) told_.evaluation.reset();
}

Told HeldTurns::told() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

void HeldTurns::after_job(std::function<void()> ended) {
  {
    const std::lock_guard lock(mutex_);
    if (turn_ != Turn::none) {
      ended_ = std::move(ended);
      return;
    }
  }
  ended();
}

Turn HeldTurns::at_hand() const {
  const std::lock_guard lock(mutex_);
  return ended_ ? turn_ : Turn::none;
}

/// Returns the function to call at the end of the turn, if any. Requires the lock.
std::function<void()> HeldTurns::end_turn() {
  if (!ended_) return {};
  turn_ = Turn::none;
  return std::exchange(ended_, {});
}

void HeldTurns::done(const Told& told) {
  std::function<void()> ended;
  {
    const std::lock_guard lock(mutex_);
    take(told, told_);
    ended = end_turn();
  }
  if (ended) ended();
}

void HeldTurns::tell(const Told& told) {
  const std::lock_guard lock(mutex_);
  take(told, told_);
}

void HeldTurns::close() {
  std::function<void()> ended;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (turn_ == Turn::evaluate) told_.evaluation.reset();
    ended = end_turn();
    turn_ = Turn::none;
  }
  if (ended) ended();
}

void HeldTurns::forget() {
  const std::lock_guard lock(mutex_);
  ended_ = {};
  turn_ = Turn::none;
}

void LentThread::submit(std::function<void()> job, std::function<void()> ended) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  jobs_.emplace_back(std::move(job), std::move(ended));
  changed_.notify_all();
}

void LentThread::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  changed_.notify_all();
}

void LentThread::end() {
  std::unique_lock lock(mutex_);
  ended_ = true;
  jobs_.clear();
  changed_.notify_all();
  changed_.wait(lock, [this] { return !working_; });
  turns_.forget();
}

/// Delays the end of a job that asked for a turn until the program is done.
void LentThread::work(Job job) {
  {
    const OwnFloatingPoint mode;
    job.first();
  }
  turns_.after_job(std::move(job.second));
  rest();
}

/// Ends the job at once: only the algorithm asks for turns, and it waits for the current one.
void LentThread::work_in_turn(Job job) {
  {
    const OwnFloatingPoint mode;
    job.first();
  }
  job.second();
  rest();
}

void LentThread::rest() {
  ++done_;
  const std::lock_guard lock(mutex_);
  working_ = false;
  changed_.notify_all();
}

void LentThread::help(std::chrono::nanoseconds at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  const auto called = [this] { return ended_ || interrupted_ || (!jobs_.empty() && !working_); };
  for (;;) {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_until(lock, until, called);
    if (std::exchange(interrupted_, false) || !came || ended_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    working_ = true;
    lock.unlock();
    turns_.at_hand() == Turn::none ? work(std::move(job)) : work_in_turn(std::move(job));
  }
}

Turn LentThread::lend(std::chrono::nanoseconds at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  for (;;) {
    std::unique_lock lock(mutex_);
    if (ended_) return Turn::over;
    if (const Turn turn = turns_.at_hand(); turn != Turn::none) return turn;
    const auto called = [this] { return ended_ || interrupted_ || !jobs_.empty(); };
    const bool came = changed_.wait_until(lock, until, called);
    if (std::exchange(interrupted_, false) || !came) return Turn::none;
    if (ended_) return Turn::over;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    working_ = true;
    lock.unlock();
    work(std::move(job));
    if (std::chrono::steady_clock::now() >= until) return turns_.at_hand();
  }
}

}  // namespace gv

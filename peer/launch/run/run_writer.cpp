#include "peer/launch/run/run_writer.h"

#include <csignal>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

namespace gv {

RunWriter::RunWriter(const std::string& metrics, std::size_t most_bytes)
    : metrics_(metrics, std::ios::app), most_bytes_(most_bytes) {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RunWriter::~RunWriter() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void RunWriter::append(std::string line) {
  const std::lock_guard lock(mutex_);
  line += '\n';
  if (bytes_ + line.size() > most_bytes_) {
    ++left_out_;
    return;
  }
  bytes_ += line.size();
  lines_.push_back(std::move(line));
  changed_.notify_all();
}

void RunWriter::replace(std::function<void()> write) {
  const std::lock_guard lock(mutex_);
  model_ = std::move(write);
  changed_.notify_all();
}

std::vector<std::string> RunWriter::troubles() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all = std::exchange(troubles_, {});
  if (const std::size_t lines = std::exchange(left_out_, 0); lines > 0)
    all.push_back(
        fmt::format("error: {} lines of metrics.jsonl are left out: the disk does not answer, and "
                    "too many wait for it",
                    lines));
  return all;
}

bool RunWriter::finish(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return is_done(); });
}

void RunWriter::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_done(); });
}

void RunWriter::work() {
  ::pthread_setname_np(::pthread_self(), "run-writer");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return over_ || !lines_.empty() || model_; });
    if (lines_.empty() && !model_) return;
    std::string lines;
    for (const std::string& line : std::exchange(lines_, {})) lines += line;
    const std::function<void()> model = std::exchange(model_, nullptr);
    bytes_ = 0;
    writing_ = true;
    lock.unlock();
    write_lines(lines);
    std::string why;
    try {
      if (model) model();
    } catch (const std::exception& full) {
      why = fmt::format("error: the best model until now is not saved: {}", full.what());
    }
    lock.lock();
    if (!why.empty()) troubles_.push_back(why);
    writing_ = false;
    changed_.notify_all();
  }
}

void RunWriter::write_lines(const std::string& lines) {
  metrics_ << lines << std::flush;
  if (!metrics_ && !std::exchange(failed_, true)) {
    const std::lock_guard lock(mutex_);
    troubles_.push_back(
        "error: metrics.jsonl cannot be written (is the disk full?): rounds are shown here only");
  }
  metrics_.clear();
}

}  // namespace gv

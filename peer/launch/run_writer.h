#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace gv {

/// Writes what a run keeps while it is under way (lines of metrics.jsonl, the best model) on a
/// thread of its own, in the order in which it is given: a disk that does not answer holds up this
/// thread, and not the launcher.
class RunWriter {
 public:
  /// `metrics`: path of the file that lines are appended to. `most_bytes`: of lines that wait; the
  /// ones after that are left out, and their number is a trouble.
  explicit RunWriter(const std::string& metrics, std::size_t most_bytes = std::size_t{64} << 20);
  /// Waits until all is written.
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  void append(std::string line);  ///< without its end
  /// `write` takes the place of one that still waits, since the newer model is the better one. What
  /// it throws is a trouble.
  void replace(std::function<void()> write);
  /// Returns what could not be written since the last call, in sentences for the screen.
  std::vector<std::string> troubles();
  /// Waits until all is written, for `patience` at most; returns whether it is.
  bool finish(std::chrono::milliseconds patience);
  void finish();

 private:
  bool is_done() const { return !writing_ && lines_.empty() && !model_; }
  void work();
  void write_lines(const std::string& lines);

  std::ofstream metrics_;
  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;  ///< size of lines_
  std::size_t left_out_ = 0;
  std::function<void()> model_;
  std::vector<std::string> troubles_;
  bool failed_ = false;  ///< metrics.jsonl could not be written, and troubles() had it
  bool writing_ = false, over_ = false;
  std::thread thread_;
};

}  // namespace gv

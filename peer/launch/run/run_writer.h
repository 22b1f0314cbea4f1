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

/// Writes the files of a run under way (lines of metrics.jsonl, the best model) on a thread of its
/// own, in order: a disk that does not answer blocks this thread, not the launcher.
class RunWriter {
 public:
  /// `metrics`: path of the file that lines are appended to. `most_bytes`: maximum size of the
  /// lines that wait; further lines are dropped, and troubles() reports their number.
  explicit RunWriter(const std::string& metrics, std::size_t most_bytes = std::size_t{64} << 20);
  /// Waits until everything is written.
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  void append(std::string line);  ///< `line` has no line end
  /// Queues `write` instead of one that still waits, because the newer model is the better one. An
  /// exception from `write` is reported by troubles().
  void replace(std::function<void()> write);
  /// Returns the failed writes since the last call, as sentences for the screen.
  std::vector<std::string> troubles();
  /// Waits at most `patience`. Returns whether everything is written.
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
  bool failed_ = false;  ///< metrics.jsonl could not be written, as troubles() reported
  bool writing_ = false, over_ = false;
  std::thread thread_;
};

}  // namespace gv

#include "peer/record/report/console.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "optim/error_text.h"
#include "optim/printable.h"

namespace gv::console {
namespace {

constexpr std::size_t most_waiting_bytes = std::size_t{1} << 20;
/// Time that a print waits for its reader, so that the text is seen even if the process dies next.
constexpr auto usual_patience = std::chrono::milliseconds(20);
constexpr auto last_patience = std::chrono::seconds(5);

/// Returns errno, or 0 if all bytes were written.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

class Console {
 public:
  void put(int fd, std::string_view bytes) {
    std::unique_lock lock(mutex_);
    if (queued_) return queue(fd, bytes, lock);
    lock.unlock();
    const int error = write_all(fd, bytes);
    lock.lock();
    if (error == EPIPE && fd == STDOUT_FILENO) {
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
    note_error(fd, error);
  }

  /// If no thread can be started, printing waits as before.
  void start_queue() {
    const std::lock_guard lock(mutex_);
    if (queued_) return;
    sigset_t all, before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { write_queue(); }).detach();
      queued_ = true;
    } catch (const std::system_error&) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  bool is_behind() {
    const std::lock_guard lock(mutex_);
    return behind_;
  }

  int finish() {
    std::unique_lock lock(mutex_);
    if (queued_) written_.wait_for(lock, last_patience, [this] { return is_empty(); });
    return error_;
  }

 private:
  struct Text {
    int fd = 0;
    std::string bytes;
  };

  bool is_empty() const { return waiting_.empty() && !writing_; }

  void queue(int fd, std::string_view bytes, std::unique_lock<std::mutex>& lock) {
    waiting_.push_back({fd, std::string(bytes)});
    waiting_bytes_ += bytes.size();
    while (waiting_bytes_ > most_waiting_bytes && waiting_.size() > 1) {
      const std::string oldest = take_oldest().bytes;
      left_out_ += static_cast<std::size_t>(std::ranges::count(oldest, '\n'));
    }
    filled_.notify_one();
    if (!behind_) behind_ = !written_.wait_for(lock, usual_patience, [this] { return is_empty(); });
  }

  Text take_oldest() {
    Text oldest = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= oldest.bytes.size();
    return oldest;
  }

  /// Returns the next text; at the place of dropped lines, a notice with their number.
  Text next_text() {
    if (left_out_ == 0) return take_oldest();
    const std::size_t lines = std::exchange(left_out_, 0);
    return {STDERR_FILENO,
            fmt::format("notice: {} lines are left out: no program read them in time\n", lines)};
  }

  void write_queue() {
    ::pthread_setname_np(::pthread_self(), "console");
    std::unique_lock lock(mutex_);
    for (;;) {
      filled_.wait(lock, [this] { return !waiting_.empty(); });
      const Text text = next_text();
      writing_ = true;
      lock.unlock();
      const int error = write_all(text.fd, text.bytes);
      lock.lock();
      writing_ = false;
      note_error(text.fd, error);
      if (!is_empty()) continue;
      behind_ = false;
      written_.notify_all();
    }
  }

  /// A reader that has gone is no error.
  void note_error(int fd, int error) {
    const bool gone = error == EPIPE || (error == EIO && ::isatty(fd) == 1);
    if (fd == STDOUT_FILENO && error_ == 0 && !gone) error_ = error;
  }

  std::mutex mutex_;
  std::condition_variable filled_, written_;
  std::deque<Text> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::size_t left_out_ = 0;  ///< number of dropped lines
  bool queued_ = false;
  bool writing_ = false;
  bool behind_ = false;
  int error_ = 0;  ///< errno of the first write to the standard output that failed
};

/// Null before open(). Never deleted: its thread may wait for a reader until the process ends.
Console* the_console = nullptr;

ssize_t put(void* fd, const char* bytes, std::size_t size) {
  the_console->put(static_cast<int>(reinterpret_cast<std::intptr_t>(fd)), {bytes, size});
  return static_cast<ssize_t>(size);
}

std::FILE* stream_to(int fd) {
  void* const cookie = reinterpret_cast<void*>(static_cast<std::intptr_t>(fd));
  std::FILE* const stream = ::fopencookie(
      cookie, "w", {.read = nullptr, .write = put, .seek = nullptr, .close = nullptr});
  if (stream == nullptr) throw std::system_error(errno, std::generic_category(), "stdio");
  return stream;
}

}  // namespace

void open() {
  the_console = new Console;
  std::FILE* const out = stream_to(STDOUT_FILENO);
  std::FILE* const err = stream_to(STDERR_FILENO);
  std::setvbuf(out, nullptr, ::isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF, std::size_t{1} << 16);
  std::setvbuf(err, nullptr, _IONBF, 0);
  stdout = out;
  stderr = err;
}

void never_wait() {
  if (the_console != nullptr) the_console->start_queue();
}

bool is_behind() {
  return the_console != nullptr && the_console->is_behind();
}

std::string close() {
  if (the_console == nullptr) return "";
  std::fflush(stdout);
  std::fflush(stderr);
  const int error = the_console->finish();
  return error == 0 ? "" : error_text(error);
}

}  // namespace gv::console

namespace gv {
namespace {

constexpr std::size_t screen = 80;

}  // namespace

std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  std::string line(begin, ' ');
  for (std::size_t at = begin; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    const bool has_word = line.find_first_not_of(' ') != std::string::npos;
    if (has_word && columns_of(line) + 1 + columns_of(word) > screen) {
      out.append(line).append("\n");
      line.assign(indent, ' ').append(word);
    } else {
      line.append(has_word ? " " : "").append(word);
    }
  }
  return out + line;
}

}  // namespace gv

namespace gv::console {

void print(const Json& json) {
  fmt::print("{}\n", json.dump());
}

void print_wrapped(const std::string& text, std::size_t indent) {
  fmt::print("{}\n", wrapped(text, indent));
}

}  // namespace gv::console

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace gv {

/// A few threads that do the pieces of one job together with the caller. Pieces must not touch each
/// other's data nor depend on the number of threads: then threads change no bit. The caller begins
/// at once and does not wait for threads that have not begun: on a busy machine a thread may wake
/// long after the job is done. A thread sleeps after a tenth of a millisecond without work.
class Workers {
 public:
  /// `threads` includes the caller. Starts one fewer, or as many as the system gives. At most 1024.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls piece(0) ... piece(n - 1), each once, on any thread; returns when all are done. Call
  /// from one thread at a time, and not from a piece. A piece must not throw.
  void run(std::size_t n, const std::function<void(std::size_t)>& piece);

 private:
  void work();
  void claim();

  /// State of the current job: the number of helpers inside, whether another may enter, and the
  /// job's number.
  std::atomic<std::uint32_t> door_ = 0;
  std::atomic<std::uint32_t> finished_ = 0;  ///< jobs whose last helper left after the caller
  std::atomic<bool> stopping_ = false;
  const std::function<void(std::size_t)>* piece_ = nullptr;
  std::size_t pieces_ = 0;
  std::size_t stride_ = 1;  ///< number of pieces that a thread takes at a time
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

/// The processors of the machine, and those that this process may use.
struct UsableCores {
  unsigned online = 1;            ///< processors of the machine
  unsigned allowed = 1;           ///< those in the CPU affinity
  std::optional<double> quota{};  ///< control group's limit, in processors; none if unlimited

  /// Returns the number of whole processors that threads can keep busy; at least 1.
  unsigned count() const;
};

/// Returns the cores of this process; the quota is the smallest of its control group and the
/// enclosing ones.
UsableCores usable_cores();

/// Returns the folders of the process's control group and the enclosing ones, each with a slash at
/// its end; none if there is no cgroup v2 (cgroups(7)).
std::vector<std::string> control_groups();

/// Returns the quota of a `cpu.max`, "150000 100000" for one and a half processors (kernel
/// documentation, admin-guide/cgroup-v2); nothing for "max 100000" and other texts.
std::optional<double> quota_in(const std::string& cpu_max);

}  // namespace gv

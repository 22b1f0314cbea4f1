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

/// A few threads that do the pieces of one job together with the caller. The pieces must not touch
/// each other's data, and what they are must not depend on the number of threads: then the threads
/// change no bit. The caller begins at once and waits for nobody who has not begun: on a busy
/// machine a thread may wake long after the job is done. A thread without work sleeps, a tenth
/// of a millisecond after the last.
class Workers {
 public:
  /// `threads` with the caller: one fewer is started, or as many as the system gives. At most 1024.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls piece(0) ... piece(n - 1), each once, on any thread; returns when all are done. From one
  /// thread at a time, and not from a piece. A piece must not throw.
  void run(std::size_t n, const std::function<void(std::size_t)>& piece);

 private:
  void work();
  void claim();

  /// The door to the job at hand: how many helpers are inside, whether another one may enter, and
  /// the number of the job.
  std::atomic<std::uint32_t> door_ = 0;
  std::atomic<std::uint32_t> finished_ = 0;  ///< jobs whose last helper left after the caller
  std::atomic<bool> stopping_ = false;
  const std::function<void(std::size_t)>* piece_ = nullptr;
  std::size_t pieces_ = 0;
  std::size_t stride_ = 1;  ///< pieces that a thread takes at a time
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

/// The processors of the machine, and those of them that this process may use.
struct UsableCores {
  unsigned online = 1;            ///< of the machine
  unsigned allowed = 1;           ///< by CPU affinity
  std::optional<double> quota{};  ///< the control group's, in processors; none: no limit

  /// Returns the whole processors that threads can keep busy; at least 1.
  unsigned count() const;
};

/// Returns those of this process; the quota is the smallest of its control group and those around.
UsableCores usable_cores();

/// Returns the folders of the process's control group and of those around it, each with a slash at
/// its end; none if there is no cgroup v2 (cgroups(7)).
std::vector<std::string> control_groups();

/// Returns the quota of a `cpu.max`, "150000 100000" for one and a half processors (kernel
/// documentation, admin-guide/cgroup-v2); nothing for "max 100000" and other texts.
std::optional<double> quota_in(const std::string& cpu_max);

}  // namespace gv

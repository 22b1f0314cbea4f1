#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace gv {

/// The memory that the processes of one measurement share.
struct Gathering {
  static constexpr std::size_t most = 64;
  std::uint32_t processes = 0;
  std::atomic<std::uint32_t> listening{0};
  std::atomic<std::uint16_t> ports[most] = {};
  double seconds[most] = {};      ///< what each measured
  double cpu_seconds[most] = {};  ///< and how long its threads worked for it, all together

  /// Publishes a process's port, and waits for those of all.
  std::vector<std::uint16_t> exchange_ports(std::uint32_t rank, std::uint16_t port);
};

/// Measures one process, all its threads, and writes what a round took into the gathering.
class Stopwatches {
 public:
  Stopwatches(Gathering& gathering, std::uint32_t rank) : gathering_(gathering), rank_(rank) {}
  void start();
  void stop(int rounds);

 private:
  Gathering& gathering_;
  std::uint32_t rank_;
  double began_ = 0;
  double cpu_began_ = 0;
};

/// The figures that the processes wrote into the arrays of these names, by rank.
struct Measured {
  std::vector<double> seconds, cpu_seconds;
};

/// Runs `body(rank, gathering)` in n new processes at once. The caller must have no other thread.
/// Throws std::runtime_error when one of them fails; none outlives the call.
Measured run_forked(std::uint32_t n, const std::function<void(std::uint32_t, Gathering&)>& body);

}  // namespace gv

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace gv {

/// What the processes of one measurement share.
struct Gathering {
  static constexpr std::size_t most = 64;
  std::uint32_t processes = 0;
  std::atomic<std::uint32_t> listening{0};
  std::atomic<std::uint16_t> ports[most] = {};
  double seconds[most] = {};  ///< what each measured

  /// Publishes a process's port, and waits for those of all.
  std::vector<std::uint16_t> exchange_ports(std::uint32_t rank, std::uint16_t port);
};

/// Runs `body(rank, gathering)` in n new processes at once and gives what each wrote into
/// seconds[]. The caller must have no other thread. Throws std::runtime_error when one of them
/// fails; none outlives the call.
std::vector<double> run_forked(std::uint32_t n,
                               const std::function<void(std::uint32_t, Gathering&)>& body);

}  // namespace gv

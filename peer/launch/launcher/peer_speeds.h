#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "peer/launch/process/process.h"
#include "peer/runtime/assembly/assembly.h"

namespace gv {

// Computing speeds of the peers of a fleet, each on its own device, with its own threads and batch.
// All measure at the same time, so that peers share a machine as in training. Data and model are
// the fleet's; nothing is sent.

struct PeerSpeed {
  PeerId peer = 0;
  std::string device{};           ///< "cpu", "cuda:0"
  std::uint32_t batch = 0;        ///< samples
  double samples_per_second = 0;  ///< in gradients and optimizer steps
  double flops = 0;               ///< per second, in gradients, as the simulator counts them
};

struct PeerSpeedOptions {
  double seconds = 1;  ///< duration of each peer's measurement
  std::function<void(const std::string&)> on_progress{};
  std::function<void(const std::string&)> say{};  ///< receives messages of peers and machines
};

/// Starts the peers that train, waits until all have their data, lets them measure at the same
/// time, and ends them. Throws std::runtime_error with the peer and its last words if one ends too
/// early.
std::vector<PeerSpeed> measure_speeds(const Assembly& fleet,
                                      Places& places,
                                      const PeerSpeedOptions& options);

/// Runs one of the measured peers, started with `--measure`: reports that it is ready, measures for
/// `seconds` when the launcher asks, and reports the speed (control.h). Returns the exit code.
int run_measured_peer(const Assembly& fleet, PeerId id, double seconds);

/// The training peers of a fleet, all started at the same time to measure something.
class MeasuringPeers {
 public:
  using HandleLine = std::function<void(PeerId, const std::string& line)>;

  /// Starts peers 0 .. n - 1, each with `past` (Places::start). `handle_line` receives each line of
  /// a peer's stdout. Options and places must outlive this object.
  MeasuringPeers(PeerId n,
                 const std::vector<std::string>& past,
                 Places& places,
                 const PeerSpeedOptions& options,
                 HandleLine handle_line);

  /// Waits until `done` is true for all; `what` names the step in progress messages. Throws
  /// std::runtime_error with the peer and its last words if one ends before that.
  void wait_for(const std::string& what, const std::function<bool(PeerId)>& done);
  void tell(const std::string& line);  ///< to all peers

 private:
  struct Peer {
    std::unique_ptr<Process> process{};
    std::string last_words{};
  };

  void wait();
  /// Returns whether the peer has ended.
  bool hear_peer(PeerId id);

  std::vector<Peer> peers_;
  Places& places_;
  const PeerSpeedOptions& options_;
  HandleLine handle_line_;
};

/// Processors that the program is built for, as `uname -m` names them.
inline constexpr std::array<std::string_view, 2> processors = {"x86_64", "aarch64"};

/// Processor that this program was built for.
#if defined(__x86_64__)
inline constexpr std::string_view own_processor = processors[0];
#elif defined(__aarch64__)
inline constexpr std::string_view own_processor = processors[1];
#else
inline constexpr std::string_view own_processor = "unknown";
#endif

}  // namespace gv

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "peer/launch/process.h"
#include "peer/runtime/assembly.h"

namespace gv {

// How fast the peers of a fleet compute, each on its own device, with its own threads and batch,
// and all of them at once: what shares a machine in training shares it here. Nothing is sent, and
// data and model are the fleet's.

struct PeerSpeed {
  PeerId peer = 0;
  std::string device{};           ///< "cpu", "cuda:0"
  std::uint32_t batch = 0;        ///< samples
  double samples_per_second = 0;  ///< of gradients and optimizer steps
  double flops = 0;               ///< per second, as the simulator counts them; of the gradient
};

struct PeerSpeedOptions {
  double seconds = 1;  ///< that each peer measures
  std::function<void(const std::string&)> on_progress{};
  std::function<void(const std::string&)> say{};  ///< what peers and machines have to say
};

/// Starts the peers that train, waits until all have their data, has them measure at the same time,
/// and ends them. Throws std::runtime_error with the peer and its last words when one ends before.
std::vector<PeerSpeed> measure_speeds(const Assembly& fleet,
                                      Places& places,
                                      const PeerSpeedOptions& options);

/// The other end: one peer, started with `--measure`, that says it is ready, measures for so long
/// when it is told to, and says what (control.h). Returns the exit code.
int run_measured_peer(const Assembly& fleet, PeerId id, double seconds);

/// The peers of a fleet that train, started to measure something, all of them at once.
class MeasuringPeers {
 public:
  using Heed = std::function<void(PeerId, const std::string& line)>;

  /// Starts peers 0 .. n - 1, each with `past` (Places::start). `heed` has each line that a peer
  /// says on its stdout. Options and places outlive it.
  MeasuringPeers(PeerId n,
                 const std::vector<std::string>& past,
                 Places& places,
                 const PeerSpeedOptions& options,
                 Heed heed);

  /// Waits until all are done with `what`, which the progress names. Throws std::runtime_error,
  /// with the peer and its last words, when one ends before it is.
  void wait_for(const std::string& what, const std::function<bool(PeerId)>& done);
  void tell(const std::string& line);  ///< all of them

 private:
  struct Peer {
    std::unique_ptr<Process> process{};
    std::string last_words{};
  };

  void wait();
  /// Returns whether it has ended.
  bool hear_peer(PeerId id);

  std::vector<Peer> peers_;
  Places& places_;
  const PeerSpeedOptions& options_;
  Heed heed_;
};

/// The kinds of processors for which there are builds of the program, as `uname -m` calls them.
inline constexpr std::array<std::string_view, 2> processors = {"x86_64", "aarch64"};

/// The one of this program.
#if defined(__x86_64__)
inline constexpr std::string_view own_processor = processors[0];
#elif defined(__aarch64__)
inline constexpr std::string_view own_processor = processors[1];
#else
inline constexpr std::string_view own_processor = "unknown";
#endif

}  // namespace gv

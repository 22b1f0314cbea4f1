#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "peer/launch/peer_speeds.h"

namespace gv {

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

}  // namespace gv

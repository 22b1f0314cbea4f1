#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "peer/launch/agent/interfaces.h"
#include "peer/runtime/assembly.h"
#include "peer/wire/tcp/tcp_world.h"

namespace gv {

/// The way in which peers without a launcher find each other: each writes where it listens into a
/// folder that all of them see (FOLDER/DIGEST/ID.json), and reads where its neighbours do. Any file
/// system that renames in one step will do; nobody serves it. What an earlier run has left there is
/// replaced as its peers come.
class Meeting {
 public:
  /// Throws std::runtime_error when the folder cannot be made.
  Meeting(const Assembly& fleet, PeerId id, const std::string& folder);

  /// Throws std::runtime_error when it cannot be written.
  void announce(std::uint16_t port);
  /// Returns where the neighbours listen, once all have said so; `say` is told whom it waits for.
  /// Throws std::runtime_error with those that have not within `patience`.
  std::vector<PeerAddress> wait(Time patience, const std::function<void(const std::string&)>& say);
  /// Returns those that have said something else since they were last asked for.
  std::vector<PeerAddress> changed();

 private:
  std::string file_of(PeerId id) const;

  PeerId id_;
  std::string folder_;
  std::vector<PeerId> neighbors_;
  std::vector<InterfaceAddress> own_;
  std::string machine_;
  std::map<PeerId, std::string> known_;  ///< the text of each that was read
};

}  // namespace gv

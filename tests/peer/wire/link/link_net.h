#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gossip/link/link_settings.h"

// The conformance suite's view of two processes and their link layers, for any carrier.

namespace gv {

/// Observations of one process.
struct Seen {
  bool begun = false;
  bool left = false;              ///< it owes no peer anything
  std::string failure;            ///< reason why it can never begin
  std::vector<Round> taken;       ///< the numbers of the received messages, in order
  std::size_t bytes = 0;          ///< payload bytes received
  std::vector<std::string> told;  ///< "away 1", "back 1", "died 1", "replaced 1"

  bool was_told(const std::string& what) const;
};

/// Two processes, 0 and 1, and the network between the two. Time passes only in until().
class LinkNet {
 public:
  virtual ~LinkNet() = default;

  /// Starts a process, which replaces any earlier one with the number `settings.self`.
  virtual void start(LinkSettings settings) = 0;
  virtual void send(PeerId from, Round number, std::size_t bytes = 0) = 0;
  virtual void say_goodbye(PeerId from, Round number) = 0;
  virtual void end(PeerId id) = 0;  ///< lets the process end after its goodbye
  virtual void kill(PeerId id) = 0;
  virtual void break_connection() = 0;
  /// Drops what is sent over the present connection, without an error.
  virtual void swallow() = 0;
  /// Prevents connections for this time.
  virtual void cut(Time length) = 0;
  virtual Seen seen(PeerId id) = 0;
  /// Runs until `so` holds. Returns false if it does not hold within a minute.
  virtual bool until(const std::function<bool()>& so) = 0;
};

std::unique_ptr<LinkNet> memory_link_net();
std::unique_ptr<LinkNet> sim_link_net();
std::unique_ptr<LinkNet> tcp_link_net();
std::unique_ptr<LinkNet> shared_link_net();  ///< over sockets, with payloads in shared memory
std::unique_ptr<LinkNet> tls_link_net();     ///< encrypted

}  // namespace gv

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gossip/link/link_settings.h"

// What the conformance suite does with processes that talk over link layers, whatever carries them.

namespace gv {

/// The things that a test sees of one process.
struct Seen {
  bool begun = false;
  bool left = false;              ///< nothing is owed to anybody any more
  std::string failure;            ///< why it can never begin
  std::vector<Round> taken;       ///< the numbers of the messages that came, in order
  std::size_t bytes = 0;          ///< of their payloads
  std::vector<std::string> told;  ///< "away 1", "back 1", "died 1", "replaced 1"

  bool was_told(const std::string& what) const;
};

/// Two processes, 0 and 1, and what joins them. It runs only in until().
class LinkNet {
 public:
  virtual ~LinkNet() = default;

  /// Another process takes the place of the one that `settings.self` had here.
  virtual void start(LinkSettings settings) = 0;
  virtual void send(PeerId from, Round number, std::size_t bytes = 0) = 0;
  virtual void say_goodbye(PeerId from, Round number) = 0;
  virtual void end(PeerId id) = 0;  ///< it has said its last words
  virtual void kill(PeerId id) = 0;
  virtual void break_connection() = 0;
  /// Nothing that is sent over the present connection arrives, and nobody is told.
  virtual void swallow() = 0;
  /// Neither makes a connection for so long.
  virtual void cut(Time length) = 0;
  virtual Seen seen(PeerId id) = 0;
  /// Runs until it is so; false: it was not within a minute.
  virtual bool until(const std::function<bool()>& so) = 0;
};

std::unique_ptr<LinkNet> memory_link_net();
std::unique_ptr<LinkNet> sim_link_net();
std::unique_ptr<LinkNet> tcp_link_net();
std::unique_ptr<LinkNet> shared_link_net();  ///< the same, and payloads in shared memory
std::unique_ptr<LinkNet> tls_link_net();     ///< encrypted

}  // namespace gv

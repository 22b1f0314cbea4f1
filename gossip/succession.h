#pragma once

#include <deque>
#include <map>
#include <optional>

#include "gossip/beside.h"
#include "gossip/servers.h"

// Servers that step in rounds and may be succeeded. Between two rounds each worker holds the
// fleet's model. A process that takes the place of a dead server takes the newest model that a
// worker has, and goes on in its round; workers push once more what the dead one has not answered.
// A gradient of a round whose end some worker has seen is in the newest model: it is answered, and
// does not count. No other ever counted. So each counts once. What the dead server's optimizer
// remembered is that of its checkpoint, or gone.

namespace gv {

/// A worker's side: as push() and pull(), and beside them each new process of a server gets what we
/// have of the model, whatever we wait for meanwhile.
class Served {
 public:
  explicit Served(Peer& me);

  Task<> push(Vector v);
  Task<std::optional<Round>> pull();  ///< x
  Task<> end();                       ///< to be awaited before this goes

 private:
  struct Server {
    std::uint64_t life = 0;  ///< the process that has our model, or had its own from the beginning
    Round holds = 0;         ///< our part of its x is the model before this round
    Payload pushed{};        ///< in this round; null: it has answered
  };

  Task<> look_after();
  Task<bool> greet(PeerId id, Server& server);
  Task<std::optional<Message>> pull_of(PeerId id, Server& server);

  Peer& me_;
  std::map<PeerId, Server> servers_;
  bool ending_ = false;
  Beside beside_;  ///< last: it uses the others
};

/// A successor's first deed: x is the newest sound model that workers send, or stays as it is, and
/// the round is the furthest that they tell of. Waits for a word of each that trains,
/// faults.deadline for each that comes. What they have pushed meanwhile is `early`.
Task<> take_over(Peer& me, std::deque<Message>& early);
/// Returns what queue_channels() allows, and the models for a successor.
std::vector<Channel> succession_channels(const Setup& setup, std::size_t d);

}  // namespace gv

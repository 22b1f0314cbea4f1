#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gossip/message.h"
#include "gossip/setup.h"
#include "gossip/task.h"

namespace gv {

class Peer;

/// The highest minibatch that each peer has asked for.
using AskedNumbers = std::map<PeerId, std::uint64_t>;

/// The minibatches of a peer that trains on samples which servers hold: minibatch k is asked for
/// while k - 1 is worked on, so that it travels meanwhile. A process that takes the place of a dead
/// server has heard no question, so what is still to come is asked for once more.
class Supply {
 public:
  explicit Supply(Peer& me) : me_(me) {}

  /// The next one, packed. Nothing: the server has gone, and nothing can be trained on any more.
  Task<Payload> next();

 private:
  void ask(PeerId server, std::uint64_t number);

  Peer& me_;
  std::uint64_t life_ = 0;   ///< the server's process that was asked
  std::uint64_t asked_ = 0;  ///< below this number
  bool over_ = false;        ///< nothing will come any more
};

/// Returns why a method that trains on each peer's own samples cannot with data servers; "" when
/// there are none.
std::string own_samples_objection(const Setup& setup);
/// Returns who serves samples to peer i.
PeerId samples_server(const Setup& setup, PeerId i);
/// Returns whom peer i has to do with because of that; ascending.
std::vector<PeerId> supply_links(const Setup& setup, PeerId i);
std::vector<Channel> supply_channels(const Setup& setup);
/// The round of the slowest of those served: nobody is to take a server's clock for that of a fleet
/// which has begun without it. A peer asks for one minibatch more than it works on.
Round slowest(const Peer& me, const AskedNumbers& asked);
/// The whole life of one that serves samples.
Task<> serve_samples(Peer& me);

}  // namespace gv

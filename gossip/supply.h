#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gossip/seam/message.h"
#include "gossip/seam/setup.h"
#include "gossip/seam/task.h"

namespace gv {

class Peer;

/// The highest minibatch that each peer has asked for.
using AskedNumbers = std::map<PeerId, std::uint64_t>;

/// The minibatches of a peer that trains on samples which servers hold. Minibatch k is requested
/// while k - 1 is worked on, so that it travels at the same time. A successor of a dead server has
/// received no question, so pending ones are repeated.
class Supply {
 public:
  explicit Supply(Peer& me) : me_(me) {}

  /// Returns the next minibatch, packed. Nothing if no more will come, as the server has gone.
  Task<Payload> next();

 private:
  void ask(PeerId server, std::uint64_t number);

  Peer& me_;
  std::uint64_t life_ = 0;   ///< the server's process that received the question
  std::uint64_t asked_ = 0;  ///< all below this number were requested
  bool over_ = false;        ///< nothing will come any more
};

/// Returns why a method that trains on each peer's own samples cannot run with data servers; "" if
/// there are none.
std::string own_samples_objection(const Setup& setup);
/// Returns the server of samples for peer i.
PeerId samples_server(const Setup& setup, PeerId i);
/// Returns the peers that peer i exchanges samples with; ascending.
std::vector<PeerId> supply_links(const Setup& setup, PeerId i);
std::vector<Channel> supply_channels(const Setup& setup);
/// Returns the round of the slowest peer served, so that no peer takes a server's clock for that of
/// a fleet which has begun without it. A peer asks for one minibatch more than it works on.
Round slowest(const Peer& me, const AskedNumbers& asked);
/// The whole life of a peer that serves samples.
Task<> serve_samples(Peer& me);

}  // namespace gv

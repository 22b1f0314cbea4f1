#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gossip/channel.h"
#include "gossip/post.h"
#include "gossip/setup.h"

namespace gv {

class Peer;

/// The minibatches of a peer that trains on samples which servers hold: minibatch k is asked for
/// while k - 1 is worked on, so that it travels meanwhile.
class Supply {
 public:
  Supply(PeerCore& self, Post& post) : self_(self), post_(post) {}

  /// The next one, packed. Nothing: the server has gone, and nothing can be trained on any more.
  Task<Payload> next();

 private:
  PeerCore& self_;
  Post& post_;
  std::uint64_t asked_ = 0;  ///< below this number
};

/// Of a method that trains on each peer's own samples: why it cannot with data servers; "" when
/// there are none.
std::string own_samples_objection(const Setup& setup);
/// Who serves samples to peer i.
PeerId samples_server(const Setup& setup, PeerId i);
/// Whom peer i has to do with because of that; ascending.
std::vector<PeerId> supply_links(const Setup& setup, PeerId i);
std::vector<Channel> supply_channels(const Setup& setup);
/// The whole life of one that serves samples.
Task<> serve_samples(Peer& me);

}  // namespace gv

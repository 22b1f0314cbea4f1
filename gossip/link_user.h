#pragma once

#include "gossip/message.h"
#include "gossip/world.h"

namespace gv {

/// The one whom a link layer serves: the peer (peer.h says what each of these means).
class LinkUser {
 public:
  virtual ~LinkUser() = default;
  virtual bool deliver(Message message) = 0;
  virtual void heard_round(PeerId from, Round round) = 0;
  /// Its arithmetic is at work, or has done something since its heartbeat before.
  virtual void heard_work(PeerId from) = 0;
  virtual void away(PeerId from) = 0;
  virtual void died(PeerId from) = 0;
  virtual void back(PeerId from) = 0;
  virtual void replaced(PeerId from) = 0;
  virtual void refused(PeerId from) = 0;
  virtual Round clock() const = 0;
  virtual Time finishing_since() const = 0;
};

}  // namespace gv

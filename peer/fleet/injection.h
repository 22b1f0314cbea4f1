#pragma once

#include <cstdint>

#include "gossip/message.h"
#include "gossip/world.h"

namespace gv {

/// A fault that the fleet file asks for (`faults.inject`), at a time since training began.
struct Injection {
  enum class Kind : std::uint8_t {
    kill,   ///< the process dies on the spot
    start,  ///< another one takes the place of a dead peer
    stop,   ///< the process stands still for `length`
    cut,    ///< no connection between the peer and `other` for `length`
  };
  Time at{0};
  Kind kind = Kind::kill;
  PeerId peer = 0;
  PeerId other = 0;  ///< cut
  Time length{0};    ///< stop, cut
};

}  // namespace gv

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "gossip/message.h"
#include "gossip/world.h"

namespace gv {

/// One thing that goes wrong with a peer of a simulated fleet at a given time, and is over after
/// `length`.
struct Accident {
  enum class Kind : std::uint8_t {
    freeze,   ///< the process stands still
    cut,      ///< no connection with `other`
    one_way,  ///< nothing that it sends reaches `other`, and no new connection can be made
    kill,     ///< the process dies; another one takes its place after `length`, if it can
    slow,     ///< its arithmetic takes `factor` times as long
    clock,    ///< its clock jumps ahead by `length`
  };
  Kind kind = Kind::freeze;
  PeerId peer = 0;
  std::optional<PeerId> other{};  ///< cut, one_way; nobody: whoever it has a link to
  Time at{0};
  Time length{0};
  double factor = 1;
  bool succeeds = true;  ///< kill: another process is started
};

}  // namespace gv

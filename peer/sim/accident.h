#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "gossip/message.h"
#include "gossip/world.h"
#include "optim/rng.h"

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

/// The bounds of accidents that are drawn.
struct AccidentBounds {
  PeerId peers = 1;
  std::function<std::vector<PeerId>(PeerId)> links{};  ///< whom each has a link to
  Time from{0};                                        ///< none begins before,
  Time until{0};                                       ///< and none lasts longer
  Time least{0};                                       ///< length of most accidents
  bool kills = true;
};

/// Draws one to three accidents, each of which begins before the one before it is over: a peer that
/// stands still, dies and has a successor, or is slow for a while; cuts of one edge or of all edges
/// of a peer, both ways or one way.
std::vector<Accident> overlapping_accidents(Rng rng, const AccidentBounds& bounds);

}  // namespace gv

#pragma once

#include "gossip/peer.h"

namespace gv {

/// What gradient tracking keeps: y steps and travels, u is what of the own gradients stands in it.
/// The mean of the y over all peers is that of the u.
struct Tracked {
  Vector y, u;
};

/// x, and y, of which what flowed to a peer that dies is taken out.
Traffic tracking_traffic(const Setup& setup);

/// y_0 = u_0 = g_0, once in a peer's life. Pu & Nedic 2021, arXiv:1805.11454, Algorithm 1.
Task<> begin_tracking(Peer& me, Tracked of);

/// The gradient at x; u <- b u + a g, and y goes along: y + u_{t+1} - u_t = y + a g + (b - 1) u_t.
Task<> track_gradient(Peer& me, Tracked of, float a, float b);

}  // namespace gv

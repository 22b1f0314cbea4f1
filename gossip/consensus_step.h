#pragma once

#include "gossip/peer.h"
#include "gossip/setup.h"
#include "gossip/task.h"

namespace gv {

/// The value of the option gamma (CHOCO-SGD, BEER) or eta (DeepSqueeze) that leaves it to the
/// codec.
inline constexpr double step_by_codec = 0;

/// The option gamma of the methods that call it so.
inline constexpr Option consensus_gamma{
    .name = "gamma",
    .usual = step_by_codec,
    .least = 0,
    .most = 1,
    .help = "consensus step size, gamma; 0: chosen by the codec"};

/// Returns what it is where the fleet file says step_by_codec. Too far for what a codec leaves out,
/// and the models part without end (Koloskova et al. 2019, arXiv:1902.00340, theorem 2: the step
/// goes with the part of a vector that arrives). Measured on quadratics of white noise, on a ring,
/// a torus, a star and a complete graph: top-k of a fraction f gets away from 4 f on at 0.05,
/// random-k from 1.5 f on; so half of that, and 0.3 at most. BEER and MoTEF hold at these steps,
/// too.
double usual_consensus_step(const std::optional<Codec>& codec);

/// The value of this option, or the usual one.
double consensus_step(const Setup& setup, std::string_view option);

class Peer;

/// plain_step(), and gamma of it: see Replica::rate. A program says the rate of a step with the
/// gradient for it, which is when it knows it: its step is a turn of its own here.
Task<double> rated_step(Peer& me);

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

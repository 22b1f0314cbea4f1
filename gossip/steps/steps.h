#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "gossip/peer.h"
#include "gossip/seam/setup.h"
#include "gossip/seam/task.h"

namespace gv {

/// The value of the option gamma (CHOCO-SGD, BEER) or eta (DeepSqueeze) that lets the codec decide.
inline constexpr double step_by_codec = 0;

/// The option of methods that call it gamma.
inline constexpr Option consensus_gamma{
    .name = "gamma",
    .usual = step_by_codec,
    .least = 0,
    .most = 1,
    .help = "consensus step size, gamma; 0: chosen by the codec"};

/// Returns the step for step_by_codec. With too long a step for the codec's losses the models
/// diverge (Koloskova et al. 2019, arXiv:1902.00340, theorem 2: the step is proportional to the
/// part of a vector that arrives). Measured on quadratics of white noise, on a ring, a torus, a
/// star and a complete graph, at f = 0.05: top-k of a fraction f diverges from a step of 4 f on,
/// random-k from 1.5 f on. So the step is 2 f, for random-k f, and 0.3 at most; BEER and MoTEF too.
double usual_consensus_step(const std::optional<Codec>& codec);

/// Returns the value of this option, or the usual step.
double consensus_step(const Setup& setup, std::string_view option);

class Peer;

/// plain_step(); returns its rate gamma: see Replica::rate. A program only knows the rate when it
/// has the gradient, so its step is a separate turn here.
Task<double> rated_step(Peer& me);

/// The state of gradient tracking: y steps and travels, u is the part of the own gradients that y
/// contains. The mean of y over all peers is the mean of u.
struct Tracked {
  Vector y, u;
};

/// Carries x and y; takes back from y what flowed to a peer that dies.
Traffic tracking_traffic(const Setup& setup);

/// y_0 = u_0 = g_0, once in a peer's life. Pu & Nedic 2021, arXiv:1805.11454, Algorithm 1.
Task<> begin_tracking(Peer& me, Tracked of);

/// u <- b u + a g, g the gradient at x, and y follows: y + u_{t+1} - u_t = y + a g + (b - 1) u_t.
Task<> track_gradient(Peer& me, Tracked of, float a, float b);

// The outer step of DiLoCo and related methods: SGD with Nesterov momentum, in PyTorch's form,
// along the moves of the peers' inner steps. Douillard et al. 2023, arXiv:2311.08105, Algorithm 1.

constexpr Option outer_lr_option(double usual) {
  return {.name = "outer_lr",
          .usual = usual,
          .least = 0,
          .most = 1e6,
          .help = "learning rate of the outer step"};
}

inline constexpr Option outer_momentum_option{.name = "outer_momentum",
                                              .usual = 0.9,
                                              .least = 0,
                                              .most = 0.999999,
                                              .help = "Nesterov momentum of the outer step"};

/// u <- mu u + delta, x <- x - lr (delta + mu u), by these two options.
Task<> outer_step(Peer& me, Vector delta, Vector u);

/// Checks that flows are answered in the round after them: a method whose flows act again in later
/// rounds is sound only while each later round brings the next flow over the same edges.
class InStep {
 public:
  explicit InStep(const Peer& me) : me_(me), numbers_(me.exchanges()) {}

  /// Returns whether this round and the one before have settled exchanges with the same neighbours,
  /// and left exchanges open with the same. A neighbour that stays away has no effect, because
  /// nothing flows over its edge. Call once in each round, after averaging.
  bool kept() {
    Edges edges;
    for (const auto& [peer, number] : me_.exchanges()) {
      edges[peer] = {number.value - numbers_[peer].value, me_.exchanging(peer)};
      numbers_[peer] = number;
    }
    const bool same = !last_ || *last_ == edges;
    last_ = std::move(edges);
    return same;
  }

 private:
  struct Edge {
    std::uint64_t settled = 0;  ///< exchanges, in this round
    bool open = false;
    bool operator==(const Edge&) const = default;
  };
  using Edges = std::map<PeerId, Edge>;

  const Peer& me_;
  std::map<PeerId, ExchangeNumber> numbers_;  ///< number of the next exchange, by neighbour
  std::optional<Edges> last_;
};

}  // namespace gv

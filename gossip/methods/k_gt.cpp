#include "gossip/objections.h"
#include "gossip/registry.h"

// K-GT. Liu, Lin, Koloskova & Stich, "Decentralized gradient tracking with local steps", 2023,
// arXiv:2301.01313, Algorithm 1: K = train.local_steps steps along g + c from x, whose mean
// direction is z = (x - x_K) / (K gamma); then x <- W (x - eta_s (x - x_K)) and c <- c - z + W z. c
// is the sum of the flows of z, so that the c of all peers sum to zero; in the limit it cancels the
// difference of a peer's gradient from the mean. With K = 1 it is gradient tracking, y = g + c.
// Past flows over an edge do not count in c while its other end is away, and are taken out if that
// peer dies, as in gradient_tracking.cpp. A late flow of z does not count in c (exchange.cpp). On a
// star models still oscillate near a peer that is slower than faults.deadline, while those of
// gradient tracking do not: if halves come a round late in every round, both ends see consecutive
// rounds, as if nothing were late. Memory of a peer: deg + 3 vectors. Per round and peer: deg
// messages out, 8 d deg bytes.

namespace gv {
namespace {

constexpr Option k_gt_options[] = {
    {.name = "eta_s",
     .usual = 1,
     .least = 0,
     .most = 10,
     .help = "fraction of its local update that a peer applies, eta_s"}};

/// Steps along the corrected gradients; returns the length of all steps, each by its rate.
Task<double> corrected_steps(Peer& me, Vector correction) {
  const std::uint32_t steps = me.plan.local_steps;
  const double weight = static_cast<double>(me.plan.setup->local_steps) / steps;
  double length = 0;
  for (std::uint32_t k = 0; k < steps; ++k) {
    co_await me.gradient();
    length += me.replica.rate() * weight;  // a program reports the rate with the gradient
    co_await me.axpby(1, correction, 1, Vector::g);
    co_await me.step_local();
  }
  co_return length;
}

Task<> k_gt(Peer& me) {
  const Vector c = me.vector("correction");
  const Vector z = me.vector("direction");
  const Vector start = me.vector("start");
  const auto eta_s = static_cast<float>(me.number("eta_s"));
  for (; me.running(); co_await me.end_round()) {
    co_await me.copy(Vector::x, start);
    const double length = co_await corrected_steps(me, c);
    // At a rate of zero no peer has moved, and z has no unit.
    const float share = length > 0 ? static_cast<float>(1 / length) : 0.0F;
    co_await me.copy(start, z);
    co_await me.axpby(-share, Vector::x, share, z);  // z = (x - x_K) / (K gamma)
    if (eta_s != 1) co_await me.axpby(1 - eta_s, start, eta_s, Vector::x);
    co_await me.average();  // W (x - eta_s (x - x_K)), c += (W - I) z
  }
}

Traffic k_gt_traffic(const Setup& setup) {
  return {.streams = {{.carries = "x"},
                      {.carries = "direction", .moves = {"correction"}, .returns = "correction"}},
          .codec = setup.codec};
}

std::string k_gt_objection(const Setup& setup, const MixingMatrix*) {
  return objection_to_other_steps(setup, "k-gt");
}

}  // namespace

extern const AlgorithmRow k_gt_row{
    .kind = "k-gt",
    .run = k_gt,
    .mixes = true,
    .traffic = k_gt_traffic,
    .codecs = Codecs::dense,
    .options = k_gt_options,
    .objection = k_gt_objection,
    .program = {.turns = ProgramUse::Turns::gradient_then_step,
                .gradients = ProgramUse::Gradients::written,
                .rate = true},
    .promise = Promise::tracking,
    .by_coordinate = true,
    .summary = "gradient tracking with local steps; arXiv:2301.01313"};

}  // namespace gv

#include "gossip/registry.h"

// D-PSGD. Lian et al., "Can decentralized algorithms outperform centralized algorithms?", NeurIPS
// 2017, arXiv:1705.09056, Algorithm 1. Per round and peer: deg messages out, 4 d deg bytes. With
// local_steps = H > 1 a round is H - 1 plain SGD steps, then one step of the algorithm.

namespace gv {
namespace {

/// The paper's order: x_{k+1,i} = sum_j W_ij x_{k,j} - gamma g_i(x_{k,i}). The gradient is taken at
/// the un-mixed x_k, so the exchange and the gradient run at the same time, with no staleness.
Task<> d_psgd_lian(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.share_before_gradient();  // x_k, frozen, travels ...
    co_await me.gradient();               // ... while g_k is computed at x_k
    co_await me.mix_and_step();           // x_{k+1} = sum_j W_ij x_{k,j} - gamma g_k, one pass
  }
}

/// Adapt, then combine (the paper's remark on swapping lines 3 and 4): x_{k+1,i} = sum_j W_ij (x_j
/// - gamma g_j(x_j)).
Task<> d_psgd_atc(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();  // x_{k+1/2} = x_k - gamma g_k
    co_await me.average();     // x_{k+1} = sum_j W_ij x_{k+1/2,j}
  }
}

/// Combine, then adapt: y = sum_j W_ij x_j; x_{k+1} = y - gamma g_i(y).
Task<> d_psgd_cta(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.average();     // y
    co_await me.plain_step();  // x_{k+1} = y - gamma g(y)
  }
}

/// Returns the row of one order of step and averaging.
constexpr AlgorithmRow row(std::string_view order,
                           Task<> (*run)(Peer&),
                           const ProgramUse& program,
                           std::string_view summary) {
  return {.kind = "d-psgd",
          .order = order,
          .run = run,
          .mixes = true,
          .takes_shares = true,
          .traffic = encoded,
          .codecs = Codecs::dense,
          .program = program,
          .promise = Promise::mean,
          .by_coordinate = true,
          .summary = summary};
}

}  // namespace

extern const AlgorithmRow d_psgd_lian_row =
    row("lian",
        d_psgd_lian,
        split_steps,
        "x <- W x - gamma g(x), exchange hidden by the gradient; arXiv:1705.09056");
extern const AlgorithmRow d_psgd_atc_row =
    row("atc", d_psgd_atc, whole_steps, "x <- W (x - gamma g(x)): adapt, then combine");
extern const AlgorithmRow d_psgd_cta_row =
    row("cta", d_psgd_cta, whole_steps, "y <- W x, x <- y - gamma g(y): combine, then adapt");

}  // namespace gv

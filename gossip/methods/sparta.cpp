#include "gossip/registry.h"

// SPARTA. Beton, Reed, Howes, Cheema & Baioumy, "Improving the efficiency of distributed training
// using sparse parameter averaging", ICLR 2025 Workshop on Modularity for Collaborative,
// Decentralized, and Continual Deep Learning (OpenReview stFPf3gzq1): after each step of its own
// optimizer a peer averages a fraction p of the parameters with the others, different ones each
// time, x_c <- sum_j W_ij x_{j,c} for the coordinates c of this round. The paper has W = 1/n 1 1^T.
// The coordinates follow from the fleet's seed and the round, alike on all peers, so that no index
// travels. Deviation: one coordinate is drawn from each of p d equal strata and not each one with
// probability p, so that every round sends the same number. Nothing flows between neighbours that a
// fault has put in different rounds until they are in one round again; the mean is kept, whatever
// is late. Memory of a peer: nothing. Per round and peer: deg messages out, 4 p d deg bytes.

namespace gv {
namespace {

constexpr Option sparta_options[] = {
    {.name = "p",
     .usual = 0.005,
     .least = 1e-6,
     .most = 1,
     .help = "fraction of the coordinates that is averaged in a round, p"}};

Task<> sparta(Peer& me) {
  for (; me.running(); co_await me.end_round()) {
    co_await me.local_steps();
    co_await me.plain_step();
    co_await me.average();  // the coordinates of this round
  }
}

Traffic sparta_traffic(const Setup& setup) {
  const double p = setup.settings.find("p")->second;
  return {.codec = Codec{.kind = Codec::Kind::random_k, .fraction = p}, .drawn_alike = true};
}

}  // namespace

extern const AlgorithmRow sparta_row{
    .kind = "sparta",
    .run = sparta,
    .mixes = true,
    .traffic = sparta_traffic,
    .options = sparta_options,
    .program = whole_steps,
    .promise = Promise::mean,
    .summary =
        "D-PSGD that averages a few coordinates in each round, drawn alike by all; "
        "OpenReview stFPf3gzq1"};

}  // namespace gv

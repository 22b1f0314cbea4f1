#include "gossip/registry.h"

#include "gossip/ring.h"

namespace gv {
namespace {

Neighborhood ring_links(PeerId n, PeerId i) {
  if (n == 1) return {};
  return {
      .self = 1, .peers = {ring_previous(i, n)}, .weights = {0}, .receivers = {ring_next(i, n)}};
}

}  // namespace

const std::vector<AlgorithmRow>& algorithms() {
  static const std::vector<AlgorithmRow> rows{
      {"d-psgd",
       "lian",
       d_psgd_lian,
       Links::topology,
       "x <- W x - gamma g(x), exchange hidden behind the gradient; arXiv:1705.09056"},
      {"d-psgd",
       "atc",
       d_psgd_atc,
       Links::topology,
       "x <- W (x - gamma g(x)): adapt, then combine"},
      {"d-psgd",
       "cta",
       d_psgd_cta,
       Links::topology,
       "y <- W x, x <- y - gamma g(y): combine, then adapt"},
      {"all-reduce",
       "",
       ring_all_reduce,
       Links::ring,
       "synchronous SGD, gradients averaged by ring all-reduce",
       ring_channels},
      {"isolated", "", isolated, Links::none, "plain SGD on each partition alone"},
  };
  return rows;
}

Task<> live(Peer& me, Algorithm run) {
  co_await me.join();
  co_await run(me);
  co_await me.finish();
}

const AlgorithmRow* find_algorithm(std::string_view kind, std::string_view order) {
  for (const AlgorithmRow& row : algorithms()) {
    if (row.kind == kind && (order.empty() || row.order == order)) return &row;
  }
  return nullptr;
}

Neighborhood neighborhood_of(const AlgorithmRow& algorithm, const MixingMatrix& w, PeerId i) {
  switch (algorithm.links) {
    case Links::topology:
      return w.row(i);
    case Links::ring:
      return ring_links(w.size(), i);
    case Links::none:
      return {};
  }
  return {};
}

Neighborhood neighborhood_of(const AlgorithmRow& algorithm, const MixingSchedule& w, PeerId i) {
  switch (algorithm.links) {
    case Links::topology:
      return w.links(i);
    case Links::ring:
      return ring_links(w.size(), i);
    case Links::none:
      return {};
  }
  return {};
}

}  // namespace gv

#pragma once

#include <functional>
#include <vector>

#include "graph/predict/quadratic.h"
#include "graph/weights.h"

namespace gv::peer_by_peer {

/// The algorithms themselves, peer by peer, as a linear map of their whole state.
using Vector = std::vector<double>;

/// One round on one coordinate: `state` holds blocks of n numbers, the first block is x; `noise`
/// and `centers` (b) hold n numbers per gradient and per peer.
using Round = std::function<void(Vector& state, const Vector& noise, const Vector& centers)>;

struct Algorithm {
  std::size_t blocks = 1;
  std::size_t gradients = 1;
  std::vector<Round> rounds;  ///< rounds of one period
};

Algorithm d_psgd(const std::vector<MixingMatrix>& sequence, const QuadraticFleet& f);
Algorithm d2(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm extra(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm gradient_tracking(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm aug_dgm(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm momentum_tracking(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm decentlam(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm gut(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm led(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm k_gt(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm beer(const MixingMatrix& w, const QuadraticFleet& f);
Algorithm stale(const MixingMatrix& w, const QuadraticFleet& f);

/// Returns block k of n numbers.
Vector block(const Vector& state, std::size_t k, std::size_t n);

}  // namespace gv::peer_by_peer

#pragma once

#include <functional>
#include <span>
#include <vector>

#include "peer/study/predict/calibrate/krylov.h"

namespace gv {

/// A point on the way of gradient descent.
struct DescentNode {
  double time = 0;  ///< training time
  std::vector<float> x;
};

/// grad f(x), the same function each time.
using FullGradient = std::function<Doubles(const std::vector<float>& x)>;

/// The later cost of pushing the mean. Gradient descent x' = -grad f(x) that is pushed by p on its
/// way ends with E1 = -integral of lambda_t . p_t dt more loss, to first order, where
/// lambda' = H lambda backwards from lambda_T = grad f(x_T) (the adjoint method: Pontryagin et al.
/// 1962; for neural networks Chen et al. 2018, arXiv:1806.07366). It knows no graph and no order:
/// one backward pass serves all of them. On the way lambda_t . grad f(x_t) stays |grad f(x_T)|^2.
///
/// Between two nodes H is that of their middle, and e^{-H dt} is taken in a Krylov space (Hochbruck
/// & Lubich, SIAM J. Numer. Anal. 1997). Products with H are differences of gradients over a length
/// at which peers are apart (0.05), so that the kinks of ReLU are part of it: without them a push
/// of an MLP costs half of what it does.
class AdjointPass {
 public:
  /// nodes: by growing time. steps: gradients, in pairs, per node.
  AdjointPass(std::span<const DescentNode> nodes, FullGradient gradient, std::size_t steps = 6);

  struct Backward {
    Doubles at_end, at_start;  ///< lambda there
    /// Integrals of phi_j(t) lambda_t dt, where phi_j is 1 at point j, 0 at the others and between
    /// them as between_points says: a push p_j that is known at the points costs -sum of p_j . it.
    /// What is known at points has to be weighted with lambda of all times: in sharp axes lambda
    /// vanishes within 1 / h before the end.
    std::vector<Doubles> integrals;
  };
  /// Goes back along descent to node `last`; points: times from the first node's to its own.
  Backward back_from(std::size_t last, std::span<const double> points) const;

 private:
  std::span<const DescentNode> nodes_;
  FullGradient gradient_;
  std::size_t steps_;
};

}  // namespace gv

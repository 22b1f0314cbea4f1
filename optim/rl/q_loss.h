#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "optim/host/host_network.h"
#include "optim/rl/memory.h"

namespace gv {

/// The index of the largest value, the first where several are; 0 where none is a number.
std::uint32_t best_of(std::span<const float> values);

/// The loss of a network of action values on transitions:
///   mean_k w_k huber(Q(s_k, a_k; x) - y_k),  y = R_n + gamma^n Q(s_n, argmax_a Q(s_n, a; x); x^-).
/// Mnih et al. 2015, "Human-level control through deep reinforcement learning", with the double
/// targets of van Hasselt, Guez & Silver 2016, arXiv:1509.06461, equation 4.
class QLoss {
 public:
  explicit QLoss(const NeuralNetwork& network) : network_(network) {}
  /// g <- the gradient at x, in which y is constant; errors[k] <- Q(s_k, a_k; x) - y_k. Returns the
  /// loss. `target`: x^-.
  double value_and_gradient(std::span<const float> x,
                            std::span<const float> target,
                            const Drawn& drawn,
                            std::span<float> g,
                            std::vector<float>& errors);

  /// errors[k] <- Q(s_k, a_k; x) - y_k alone.
  void find_errors(std::span<const float> x,
                   std::span<const float> target,
                   const Drawn& drawn,
                   std::vector<float>& errors);

 private:
  void make_for(std::uint32_t rows);
  void find_targets(std::span<const float> x, std::span<const float> target, const Drawn& drawn);

  NeuralNetwork network_;
  std::uint32_t rows_ = 0;
  std::unique_ptr<HostNetwork> learning_, looking_;
  std::vector<std::uint32_t> best_;
  std::vector<float> y_;
};

}  // namespace gv

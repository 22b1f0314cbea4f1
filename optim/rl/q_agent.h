#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "optim/host/host_network.h"
#include "optim/models/network_builder.h"
#include "optim/models/objective.h"
#include "optim/rl/acting.h"
#include "optim/rl/replay_memory.h"

namespace gv {

/// The errors of a learner in its last minibatch: with priorities, one for each transition. Written
/// by its objective, and read between two gradients by the code that asks the memory for the next
/// minibatch.
struct FoundErrors {
  std::vector<float> errors{};
};

/// The place of an agent in its fleet.
struct AgentPlace {
  std::uint32_t peer = 0;
  std::uint32_t peers = 1;
  Rng rng{};              ///< the fleet's; each agent derives its own streams
  double step_flops = 0;  ///< flops of a step of an environment, for the simulator
  /// Receives the errors of a learner whose transitions come from a memory filled by actors. Null
  /// if it acts and remembers itself.
  std::shared_ptr<FoundErrors> judged{};
};

/// An agent as an objective, a bundle of actor, learner and memory in the words of Nair et al.
/// 2015, arXiv:1507.04296. Each gradient acts a few steps with x, stores them, and is that of QLoss
/// on a minibatch from the memory. Before the memory has `warm_up` transitions, the gradient is
/// zero and the loss is unknown_figure(). An evaluation is the mean return of greedy episodes, with
/// the opposite sign. gradient_over() takes minibatches drawn by a memory elsewhere
/// (served_memory.h). Throws std::invalid_argument for an unknown environment, and for a network
/// that was made for another one or has batch norms, whose moments are not measured here.
std::unique_ptr<Objective> make_q_agent(const AgentSpec& spec,
                                        NeuralNetwork network,
                                        const AgentPlace& place);

/// Returns the index of the largest value, the first of equal ones; 0 if values[0] is NaN.
std::uint32_t best_of(std::span<const float> values);

/// The loss of a network of action values on transitions:
///   mean_k w_k huber(Q(s_k, a_k; x) - y_k),  y = R_n + gamma^n Q(s_n, argmax_a Q(s_n, a; x); x^-).
/// Mnih et al. 2015, "Human-level control through deep reinforcement learning", with the double
/// targets of van Hasselt, Guez & Silver 2016, arXiv:1509.06461, equation 4.
class QLoss {
 public:
  explicit QLoss(const NeuralNetwork& network) : network_(network) {}
  /// g <- gradient at x with constant y; errors[k] <- Q(s_k, a_k; x) - y_k. Returns the loss.
  /// `target` is x^-.
  double value_and_gradient(std::span<const float> x,
                            std::span<const float> target,
                            const Drawn& drawn,
                            std::span<float> g,
                            std::vector<float>& errors);

  /// Computes only errors[k] <- Q(s_k, a_k; x) - y_k.
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

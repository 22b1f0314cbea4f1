#pragma once

#include <cstdint>
#include <memory>

#include "optim/models/network.h"
#include "optim/models/objective.h"
#include "optim/rl/agent_spec.h"
#include "optim/rl/found_errors.h"

namespace gv {

/// The place of an agent among those of a fleet.
struct AgentPlace {
  std::uint32_t peer = 0;
  std::uint32_t peers = 1;
  Rng rng{};              ///< the fleet's: each agent derives its own streams from it
  double step_flops = 0;  ///< flops in which the simulator counts one step of an environment
  /// The place where a learner whose transitions come from a memory that actors fill says how wrong
  /// it was. Null: it acts and remembers itself.
  std::shared_ptr<FoundErrors> judged{};
};

/// An agent as an objective, a bundle of actor, learner and memory in the words of Nair et al.
/// 2015, arXiv:1507.04296: each gradient acts a few steps with x, keeps them, and is that of QLoss
/// on a minibatch of what was kept. Before the memory has `warm_up` transitions it is zero, and its
/// loss is unknown_figure(). An evaluation is the mean return of greedy episodes, with the opposite
/// sign. gradient_over() takes minibatches that a memory elsewhere has drawn (transitions.h).
/// Throws std::invalid_argument for an unknown environment, and for a network that was made for
/// another or has batch norms, whose moments nobody measures here.
std::unique_ptr<Objective> make_q_agent(const AgentSpec& spec,
                                        NeuralNetwork network,
                                        const AgentPlace& place);

}  // namespace gv

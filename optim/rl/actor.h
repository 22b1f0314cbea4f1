#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "optim/buffer.h"
#include "optim/models/network.h"
#include "optim/rl/agent_spec.h"
#include "optim/rl/environments.h"

namespace gv {

/// The place of an actor among those of a fleet.
struct ActorPlace {
  std::uint32_t actor = 0;
  std::uint32_t actors = 1;
  Rng rng{};              ///< the fleet's: each actor derives its own streams from it
  double step_flops = 0;  ///< see AgentPlace
};

/// Acts for others with a model that it is given from time to time, and makes what happens into
/// chunks of transitions for a memory, with their first errors where there are priorities: Horgan
/// et al. 2018, "Distributed prioritized experience replay", arXiv:1803.00933, algorithm 1.
class Actor {
 public:
  virtual ~Actor() = default;
  /// `steps` steps of each environment. Returns the transitions that are complete, packed; null
  /// while there are none. At most AgentSpec::most_transitions() of them.
  virtual std::shared_ptr<Buffer> act() = 0;
  virtual double flops() const = 0;  ///< of one act()
  /// x[begin ...] <- a piece, for use(). A piece beyond the end is our own mistake.
  virtual void load(std::size_t begin, std::span<const float> piece) = 0;
  /// Acts with what was loaded from now on. False: it is no model, and the old one stays.
  virtual bool use() = 0;
  virtual std::size_t size() const = 0;      ///< d
  virtual std::uint64_t frames() const = 0;  ///< steps of all its environments
};

/// Makes one on the CPU. x: what it acts with until it is given another.
std::unique_ptr<Actor> make_actor(const AgentSpec& spec,
                                  const EnvironmentRow& row,
                                  const NeuralNetwork& network,
                                  const ActorPlace& place,
                                  std::vector<float> x);

}  // namespace gv

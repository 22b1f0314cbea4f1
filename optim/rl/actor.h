#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "optim/rl/acting.h"
#include "optim/rl/q_loss.h"
#include "optim/rl/transitions.h"

namespace gv {

/// Which actor of a fleet it is.
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
  /// x: what it acts with until it is given another.
  Actor(const AgentSpec& spec,
        const EnvironmentRow& row,
        const NeuralNetwork& network,
        const ActorPlace& place,
        std::vector<float> x);

  /// `steps` steps of each environment. Returns the transitions that are complete, packed; null
  /// while there are none.
  std::shared_ptr<Buffer> act();
  double flops() const;  ///< of one act()
  /// x[begin ...] <- a piece, for use(). A piece beyond the end is our own mistake.
  void load(std::size_t begin, std::span<const float> piece);
  /// Acts with what was loaded from now on. False: it is no model, and the old one stays.
  bool use();
  std::size_t size() const { return x_.size(); }    ///< d
  std::uint64_t frames() const { return frames_; }  ///< steps of all its environments
  /// The most transitions that one act() returns.
  static std::size_t most_rows(const AgentSpec& spec);

 private:
  void add(const Transition& one);
  void find_errors();

  AgentSpec spec_;
  NeuralNetwork network_;
  ActorPlace place_;
  TransitionForm form_;
  Acting acting_;
  QLoss loss_;
  std::vector<float> x_, next_;
  std::uint64_t frames_ = 0;
  Drawn chunk_;
};

}  // namespace gv

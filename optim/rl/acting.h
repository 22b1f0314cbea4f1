#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/buffer.h"
#include "optim/host/host_network.h"
#include "optim/models/network_builder.h"
#include "optim/rl/environments.h"
#include "optim/rl/replay_memory.h"

namespace gv {

/// The probability of a random action instead of the best one.
struct ExploreSpec {
  double from = 1, to = 0.05;  ///< decreases linearly ...
  std::uint64_t over = 5000;   ///< ... over this number of the agent's frames
  double base = 0;             ///< if above 0, constant per peer: base^(1 + power i/(N-1)) of N
  double power = 7;

  bool each_its_own() const { return base > 0; }
  /// Returns the rate of peer `peer` of `peers` after this number of its frames. Rates per peer are
  /// those of Horgan et al. 2018, arXiv:1803.00933, section 4.1.
  double rate(std::uint64_t frames, std::uint32_t peer, std::uint32_t peers) const {
    if (each_its_own()) return std::pow(base, 1 + (peers > 1 ? power * peer / (peers - 1.0) : 0.0));
    const double gone = over == 0 ? 1 : static_cast<double>(frames) / static_cast<double>(over);
    return from + (to - from) * std::min(1.0, gone);
  }
};

/// An agent in a fleet file: equal for all peers.
struct AgentSpec {
  std::string environment;
  std::uint32_t steps = 4;         ///< steps of each environment per round
  std::uint32_t environments = 1;  ///< number of parallel environments
  double discount = 0.99;          ///< gamma
  std::uint32_t n_step = 10;
  std::uint32_t memory = 20'000;  ///< number of transitions kept
  std::uint32_t warm_up = 1000;   ///< transitions before the first nonzero gradient
  std::uint32_t refresh = 250;    ///< gradients between updates of the target network
  double priority = 0;            ///< alpha; 0 for uniform sampling
  double correction = 0.4;        ///< beta, of the importance weights
  ExploreSpec explore{};
  double step_seconds = 0;  ///< duration of a step of an environment, in simulate
  /// Number of peers that act for the learners, which then do not; 0 if each learner acts itself.
  std::uint32_t actors = 0;
  std::uint32_t memories = 1;       ///< number of memories that they fill
  double samples_per_insert = 16;   ///< samples learnt per transition taken; 0 for no limit
  std::uint32_t model_every = 100;  ///< an actor's frames between updates of its model

  /// Returns the frames per gradient, and with actors per act().
  std::uint64_t frames() const { return std::uint64_t{steps} * environments; }
  /// Returns the maximum number of transitions per message of an actor: the end of an episode
  /// completes up to n, and each step one more.
  std::size_t most_transitions() const {
    return std::size_t{environments} * (std::size_t{steps} + n_step);
  }
};

/// The place of an actor in its fleet.
struct ActorPlace {
  std::uint32_t actor = 0;
  std::uint32_t actors = 1;
  Rng rng{};              ///< the fleet's; each actor derives its own streams
  double step_flops = 0;  ///< see AgentPlace
};

/// Acts for learners with a model that is updated from time to time, and sends chunks of
/// transitions to a memory, with first errors if there are priorities: Horgan et al. 2018,
/// "Distributed prioritized experience replay", arXiv:1803.00933, algorithm 1.
class Actor {
 public:
  virtual ~Actor() = default;
  /// Takes `steps` steps of each environment. Returns the completed transitions, packed, at most
  /// AgentSpec::most_transitions(); null if there are none.
  virtual std::shared_ptr<Buffer> act() = 0;
  virtual double flops() const = 0;  ///< work of one act()
  /// x[begin ...] <- piece, for use(). A piece beyond the end is a bug of the caller.
  virtual void load(std::size_t begin, std::span<const float> piece) = 0;
  /// Starts using the loaded model. Returns false if it is not finite; the old one then stays.
  virtual bool use() = 0;
  virtual std::size_t size() const = 0;      ///< d
  virtual std::uint64_t frames() const = 0;  ///< total steps of its environments
};

/// Makes an actor on the CPU, which acts with x until it gets another model.
std::unique_ptr<Actor> make_actor(const AgentSpec& spec,
                                  const EnvironmentRow& row,
                                  const NeuralNetwork& network,
                                  const ActorPlace& place,
                                  std::vector<float> x);

using TakeTransition = std::function<void(const Transition&)>;

/// Combines the steps of one environment into transitions over n steps, or fewer at the end of an
/// episode: with a future if it was cut, without one if it was over. Sutton 1988, "Learning to
/// predict by the methods of temporal differences".
class NStep {
 public:
  NStep(std::uint32_t n, double discount, std::uint32_t numbers);
  /// Adds a step from `seen` to `next`; calls `take` for each transition that it completes.
  void step(std::span<const float> seen,
            std::uint32_t action,
            const Environment::Step& step,
            std::span<const float> next,
            const TakeTransition& take);

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for an invalid beginning of n steps over this number of actions.
  void restore(StateReader& in, std::uint32_t actions);

 private:
  std::size_t place(std::uint32_t k) const { return (first_ + k) % n_; }
  void complete_first(bool over, std::span<const float> next, const TakeTransition& take);

  std::uint32_t n_;
  double discount_;
  std::uint32_t numbers_;
  std::uint32_t first_ = 0;  ///< index of the oldest step with an incomplete transition
  std::uint32_t count_ = 0;  ///< number of such steps
  std::vector<float> seen_;  ///< [n][numbers]
  std::vector<std::uint32_t> actions_;
  std::vector<float> rewards_;
};

/// Parallel environments with one network acting in all: all take a step together, and an episode
/// that ended is followed by the next.
class Acting {
 public:
  Acting(const EnvironmentRow& row,
         const AgentSpec& spec,
         const NeuralNetwork& network,
         Rng starts,
         Rng explore);
  /// Takes one step of each with x, with a random action at probability `explore`; calls `take` for
  /// each completed transition.
  void step(std::span<const float> x, double explore, const TakeTransition& take);

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for a state that was not saved by an equally made object.
  void restore(StateReader& in);

 private:
  std::span<float> seen(std::size_t k) { return std::span(seen_).subspan(k * numbers_, numbers_); }

  const EnvironmentRow& row_;
  std::size_t numbers_;
  HostNetwork network_;
  Rng starts_, explore_;
  std::vector<std::unique_ptr<Environment>> environments_;
  std::vector<NStep> horizons_;
  std::vector<float> seen_;  ///< [environment][numbers]
  std::vector<float> next_;
};

/// Mean return of greedy episodes with fixed starts, all in parallel.
class GreedyPlay {
 public:
  GreedyPlay(const EnvironmentRow& row, const NeuralNetwork& network, const Rng& starts);
  double mean_return(std::span<const float> x);

 private:
  const EnvironmentRow& row_;
  std::uint32_t actions_;
  HostNetwork network_;
  Rng starts_;
};

}  // namespace gv

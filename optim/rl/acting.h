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
#include "optim/rl/environment.h"
#include "optim/rl/environments.h"
#include "optim/rl/memory.h"

namespace gv {

/// The probability with which an agent takes any action instead of the best one.
struct ExploreSpec {
  double from = 1, to = 0.05;  ///< falls in a straight line ...
  std::uint64_t over = 5000;   ///< ... over so many of the agent's frames
  double base = 0;             ///< above 0: each of N peers keeps its own, base^(1 + power i/(N-1))
  double power = 7;

  bool each_its_own() const { return base > 0; }
  /// Returns that of peer `peer` of `peers`, after so many frames of its own. Horgan et al. 2018,
  /// arXiv:1803.00933, section 4.1, for each its own.
  double rate(std::uint64_t frames, std::uint32_t peer, std::uint32_t peers) const {
    if (each_its_own()) return std::pow(base, 1 + (peers > 1 ? power * peer / (peers - 1.0) : 0.0));
    const double gone = over == 0 ? 1 : static_cast<double>(frames) / static_cast<double>(over);
    return from + (to - from) * std::min(1.0, gone);
  }
};

/// An agent as a fleet file asks for it: the same for all peers.
struct AgentSpec {
  std::string environment;
  std::uint32_t steps = 4;         ///< of each environment in a round
  std::uint32_t environments = 1;  ///< side by side
  double discount = 0.99;          ///< gamma
  std::uint32_t n_step = 10;
  std::uint32_t memory = 20'000;  ///< transitions kept
  std::uint32_t warm_up = 1000;   ///< transitions before the first gradient that is not zero
  std::uint32_t refresh = 250;    ///< gradients from one target network to the next
  double priority = 0;            ///< alpha; 0: all alike
  double correction = 0.4;        ///< beta, of the importance weights
  ExploreSpec explore{};
  double step_seconds = 0;  ///< what a step of an environment takes, in simulate
  /// Peers that act for those that learn, which then do not; 0: each learner acts itself.
  std::uint32_t actors = 0;
  std::uint32_t memories = 1;       ///< that they fill
  double samples_per_insert = 16;   ///< learnt for each transition that is taken; 0: no limit
  std::uint32_t model_every = 100;  ///< an actor's frames from one look at the model to the next

  /// Counts those of one gradient, and with actors of one look for transitions that are complete.
  std::uint64_t frames() const { return std::uint64_t{steps} * environments; }
  /// Returns the most that an actor sends at once: an episode that ends completes up to n of them,
  /// and each step one more.
  std::size_t most_transitions() const {
    return std::size_t{environments} * (std::size_t{steps} + n_step);
  }
};

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

using TakeTransition = std::function<void(const Transition&)>;

/// Makes the steps of one environment into transitions over n of them, and over fewer where the
/// episode ends before: with a future where it was cut, without one where it was over. Sutton 1988,
/// "Learning to predict by the methods of temporal differences".
class NStep {
 public:
  NStep(std::uint32_t n, double discount, std::uint32_t numbers);
  /// A step from `seen` to `next`; calls `take` for each transition that it completes.
  void step(std::span<const float> seen,
            std::uint32_t action,
            const Environment::Step& step,
            std::span<const float> next,
            const TakeTransition& take);

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for what is no beginning of n steps over so many actions.
  void restore(StateReader& in, std::uint32_t actions);

 private:
  std::size_t place(std::uint32_t k) const { return (first_ + k) % n_; }
  void complete_first(bool over, std::span<const float> next, const TakeTransition& take);

  std::uint32_t n_;
  double discount_;
  std::uint32_t numbers_;
  std::uint32_t first_ = 0;  ///< place of the oldest step whose transition is not complete
  std::uint32_t count_ = 0;  ///< of those steps
  std::vector<float> seen_;  ///< [n][numbers]
  std::vector<std::uint32_t> actions_;
  std::vector<float> rewards_;
};

/// Environments side by side, in which one network acts: all of them take a step together, and an
/// episode that ended is followed by the next.
class Acting {
 public:
  Acting(const EnvironmentRow& row,
         const AgentSpec& spec,
         const NeuralNetwork& network,
         Rng starts,
         Rng explore);
  /// One step of each, with x, and with any action at this probability; calls `take` for each
  /// transition that is complete.
  void step(std::span<const float> x, double explore, const TakeTransition& take);

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for what an equally made one did not save.
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

/// Mean return of greedy episodes from starts that are always the same, all side by side.
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

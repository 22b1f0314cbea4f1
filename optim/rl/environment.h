#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optim/rng.h"
#include "optim/state.h"

namespace gv {

/// An environment for an agent, one episode after the other. The whole state of an episode is one
/// vector of doubles, so that all environments are saved, restored and compared in the same way.
class Environment {
 public:
  struct Step {
    float reward = 0;
    bool over = false;  ///< the episode has ended by its rules
    bool cut = false;   ///< the time limit has ended it; its future is unknown
    bool ended() const { return over || cut; }
  };

  virtual ~Environment() = default;
  /// Begins an episode. seen <- the agent's observation.
  void reset(Rng& rng, std::span<float> seen);
  /// Takes one step of an episode that has not ended; `action` is below the row's `actions`.
  Step step(std::uint32_t action, Rng& rng, std::span<float> seen);
  /// seen <- the agent's current observation.
  void look(std::span<float> seen) const { show(state_, seen); }
  std::span<const double> state() const { return state_; }

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for an invalid state of this environment.
  void restore(StateReader& in);

 protected:
  struct Outcome {
    float reward = 0;
    bool over = false;
  };
  /// `values` is the size of the state. An episode is cut after `limit` steps.
  Environment(std::size_t values, std::uint32_t limit) : state_(values), limit_(limit) {}

 private:
  virtual void begin(std::span<double> state, Rng& rng) const = 0;
  virtual Outcome advance(std::span<double> state, std::uint32_t action, Rng& rng) const = 0;
  virtual void show(std::span<const double> state, std::span<float> seen) const = 0;
  /// Returns whether advance() can start from these finite values.
  virtual bool is_state(std::span<const double>) const { return true; }

  std::vector<double> state_;
  std::uint32_t limit_;
  std::uint32_t taken_ = 0;  ///< steps of this episode
};

}  // namespace gv

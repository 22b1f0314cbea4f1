#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "optim/rng.h"
#include "optim/state.h"

namespace gv {

/// A world that an agent acts in, one episode after the other. All that an episode is stands in one
/// vector of doubles, so that it is saved, restored and compared alike for every environment.
class Environment {
 public:
  struct Step {
    float reward = 0;
    bool over = false;  ///< the episode has no future
    bool cut = false;   ///< the limit of time ended it, and its future is unknown
    bool ended() const { return over || cut; }
  };

  virtual ~Environment() = default;
  /// Begins an episode. seen <- what the agent sees of it.
  void reset(Rng& rng, std::span<float> seen);
  /// One step of an episode that has not ended; `action` is below the row's `actions`.
  Step step(std::uint32_t action, Rng& rng, std::span<float> seen);
  /// seen <- what the agent sees now.
  void look(std::span<float> seen) const { show(state_, seen); }
  std::span<const double> state() const { return state_; }

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for what is no state of this environment.
  void restore(StateReader& in);

 protected:
  struct Outcome {
    float reward = 0;
    bool over = false;
  };
  /// `values`: of its state. An episode is cut after `limit` steps.
  Environment(std::size_t values, std::uint32_t limit) : state_(values), limit_(limit) {}

 private:
  virtual void begin(std::span<double> state, Rng& rng) const = 0;
  virtual Outcome advance(std::span<double> state, std::uint32_t action, Rng& rng) const = 0;
  virtual void show(std::span<const double> state, std::span<float> seen) const = 0;
  /// Returns whether advance() may begin from these values, all of them finite.
  virtual bool is_state(std::span<const double>) const { return true; }

  std::vector<double> state_;
  std::uint32_t limit_;
  std::uint32_t taken_ = 0;  ///< steps of this episode
};

}  // namespace gv

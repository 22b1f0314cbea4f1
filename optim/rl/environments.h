#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/models/network_builder.h"
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

// The table of environments, each a row in a file of its own. They are our own code from published
// equations: nothing is downloaded, and the bits are equal on every machine whose libm has the same
// sine and cosine.

struct EnvironmentRow {
  std::string name;
  std::string summary;
  Shape seen;                 ///< a picture, or just `channels` numbers
  std::uint32_t actions = 0;  ///< actions are 0 .. actions - 1
  std::uint32_t limit = 0;    ///< steps after which an episode is cut
  double solved = 0;          ///< least return that counts as solved
  bool binary = false;        ///< observations are only 0 or 1, so a byte stores each
  std::unique_ptr<Environment> (*make)() = nullptr;

  bool is_picture() const { return seen.height > 1; }
  /// Returns a data set with its shape and classes and no samples, for which a model is made.
  Dataset shape_of_data() const;
};

const std::vector<EnvironmentRow>& environments();
/// Returns null if there is no environment of this name.
const EnvironmentRow* find_environment(const std::string& name);

}  // namespace gv

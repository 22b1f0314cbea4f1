#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

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

}  // namespace gv

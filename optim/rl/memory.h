#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optim/rng.h"

namespace gv {

/// Weights of numbered places, and the place at which their running sum passes a number, both in
/// logarithmic time. Each node is the sum of its children in ascending order, made again whenever
/// one of them changes, so that nothing drifts and equal weights give equal bits. Schaul, Quan,
/// Antonoglou & Silver 2016, arXiv:1511.05952, appendix B.2.1.
class SumTree {
 public:
  /// All weights are 0.
  explicit SumTree(std::size_t places);
  /// `weight` is finite and not negative.
  void set(std::size_t place, double weight);
  double weight(std::size_t place) const { return levels_.front()[place]; }
  double total() const { return levels_.back().front(); }
  /// places[k] <- the first place up to which the weights sum to more than at[k], in [0, total());
  /// its weight is not 0. Some weight must not be 0. `at` is used up.
  void find(std::span<double> at, std::span<std::uint32_t> places) const;

 private:
  std::vector<std::vector<double>> levels_;  ///< leaves first, the root alone last
};

/// The piece of experience that an agent learns from: n steps of one episode.
struct Transition {
  std::span<const float> seen;  ///< s
  std::uint32_t action = 0;     ///< a
  float reward = 0;             ///< R_n: the rewards of its steps, each discounted
  float future = 0;             ///< gamma^n; 0 where the episode was over
  std::span<const float> next;  ///< s_n
};

/// Transitions that were drawn together, by row.
struct Drawn {
  std::vector<std::uint32_t> places;  ///< of the memory
  std::vector<float> seen, next;      ///< [rows][numbers of one]
  std::vector<std::uint32_t> actions;
  std::vector<float> rewards, futures;
  std::vector<float> weights;  ///< w, of which the largest is 1

  std::uint32_t rows() const { return static_cast<std::uint32_t>(actions.size()); }
};

struct MemorySpec {
  std::uint32_t places = 1;   ///< transitions kept; then the oldest goes
  std::uint32_t numbers = 1;  ///< of what is seen
  std::uint32_t actions = 1;
  bool binary = false;    ///< what is seen is 0 or 1: a byte keeps it
  double priority = 0;    ///< alpha
  double correction = 0;  ///< beta
};

/// A replay memory: a ring of transitions, from which those with large errors are drawn more often.
/// Lin 1992, "Self-improving reactive agents based on reinforcement learning, planning and
/// teaching"; with priorities Schaul et al. 2016, arXiv:1511.05952, algorithm 1.
class Memory {
 public:
  explicit Memory(const MemorySpec& spec);
  /// Adds one with the highest priority that there was, so that each is soon seen once (line 6); or
  /// with that of an error which somebody has found already: Horgan et al. 2018, arXiv:1803.00933,
  /// algorithm 1.
  void add(const Transition& one, std::optional<float> error = {});
  std::uint32_t size() const { return size_; }
  /// `rows` transitions, one from each of as many parts of equal priority, and their importance
  /// weights (N P_k)^-beta / max (line 10). The memory must not be empty.
  void draw(std::uint32_t rows, Rng& rng, Drawn& to) const;
  /// Priorities of what was drawn, from its errors: (|TD| + 0.001)^alpha (line 12).
  void judge(std::span<const std::uint32_t> places, std::span<const float> errors);

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for what a memory of this spec cannot hold.
  void restore(StateReader& in);

 private:
  /// The rest of a transition beside what was seen; together, since a draw looks at all of it.
  struct Rest {
    float reward = 0, future = 0;
    std::uint32_t action = 0;
  };
  std::optional<double> priority_of(float error) const;
  void keep(std::size_t place, std::span<const float> seen, std::span<const float> next);
  void recall(std::size_t place, std::span<float> seen, std::span<float> next) const;
  void weigh(Drawn& drawn) const;
  bool holds_only_valid() const;
  void resize(std::size_t places);

  MemorySpec spec_;
  std::uint32_t size_ = 0;
  std::uint32_t newest_ = 0;  ///< the place that is written next
  double highest_ = 1;        ///< priority
  SumTree priorities_;
  std::vector<float> floats_;        ///< [place][s, s_n][numbers], or empty
  std::vector<std::uint8_t> bytes_;  ///< the same where they are binary
  std::vector<Rest> rest_;
};

}  // namespace gv

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optim/rng.h"

namespace gv {

/// Weights of numbered places, with a search for the place at which their running sum passes a
/// number, both in logarithmic time. Each node is the sum of its children in ascending order,
/// recomputed whenever one changes, so that nothing drifts and equal weights give equal bits.
/// Schaul, Quan, Antonoglou & Silver 2016, arXiv:1511.05952, appendix B.2.1.
class SumTree {
 public:
  /// All weights are 0.
  explicit SumTree(std::size_t places);
  /// `weight` is finite and not negative.
  void set(std::size_t place, double weight);
  double weight(std::size_t place) const { return levels_.front()[place]; }
  double total() const { return levels_.back().front(); }
  /// places[k] <- the first place up to which the weights sum to more than at[k], in [0, total());
  /// its weight is not 0. Some weight must be nonzero. Overwrites `at`.
  void find(std::span<double> at, std::span<std::uint32_t> places) const;

 private:
  std::vector<std::vector<double>> levels_;  ///< leaves first, root last
};

/// A unit of experience: n steps of one episode.
struct Transition {
  std::span<const float> seen;  ///< s
  std::uint32_t action = 0;     ///< a
  float reward = 0;             ///< R_n: sum of the discounted rewards of its steps
  float future = 0;             ///< gamma^n; 0 if the episode was over
  std::span<const float> next;  ///< s_n
};

/// A batch of drawn transitions, by row.
struct Drawn {
  std::vector<std::uint32_t> places;  ///< places in the memory
  std::vector<float> seen, next;      ///< [rows][numbers per observation]
  std::vector<std::uint32_t> actions;
  std::vector<float> rewards, futures;
  std::vector<float> weights;  ///< w, scaled to a largest of 1

  std::uint32_t rows() const { return static_cast<std::uint32_t>(actions.size()); }
};

struct MemorySpec {
  std::uint32_t places = 1;   ///< transitions kept; the oldest is dropped when full
  std::uint32_t numbers = 1;  ///< numbers per observation
  std::uint32_t actions = 1;
  bool binary = false;    ///< observations are 0 or 1, stored as bytes
  double priority = 0;    ///< alpha
  double correction = 0;  ///< beta
};

/// A replay memory: a ring of transitions that draws those with large errors more often. Lin 1992,
/// "Self-improving reactive agents based on reinforcement learning, planning and teaching"; with
/// priorities Schaul et al. 2016, arXiv:1511.05952, algorithm 1.
class Memory {
 public:
  explicit Memory(const MemorySpec& spec);
  /// Adds a transition with the highest priority until now, so that each is drawn soon (line 6); or
  /// with the priority of an error if its sender has computed one: Horgan et al. 2018,
  /// arXiv:1803.00933, algorithm 1.
  void add(const Transition& one, std::optional<float> error = {});
  std::uint32_t size() const { return size_; }
  /// Draws `rows` transitions, one from each of as many parts of equal priority, and their
  /// importance weights (N P_k)^-beta / max (line 10). The memory must not be empty.
  void draw(std::uint32_t rows, Rng& rng, Drawn& to) const;
  /// Sets the priorities of drawn transitions by their errors: (|TD| + 0.001)^alpha (line 12).
  void judge(std::span<const std::uint32_t> places, std::span<const float> errors);

  void save(StateWriter& out) const;
  /// Throws std::runtime_error for a state that does not fit this spec.
  void restore(StateReader& in);

 private:
  /// A transition without its observations; one struct, since a draw reads all fields.
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
  std::uint32_t newest_ = 0;  ///< next place to write
  double highest_ = 1;        ///< priority
  SumTree priorities_;
  std::vector<float> floats_;        ///< [place][s, s_n][numbers], or empty
  std::vector<std::uint8_t> bytes_;  ///< instead of floats_ if binary
  std::vector<Rest> rest_;
};

}  // namespace gv

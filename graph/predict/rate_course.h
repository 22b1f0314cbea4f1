#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace gv {

/// Rounds that have one rate, or nearly so.
struct RateStretch {
  double rate = 0;
  std::uint64_t rounds = 0;
};

/// The rates gamma_t of a run, round by round, and the training time that gradient descent has gone
/// through: the sum of its steps along a gradient that stays. With momentum beta a gradient counts
/// gamma_t beta^k in the k-th round after it, so that sum is (1 - beta^{t+1}) / (1 - beta) gamma_t.
class RateCourse {
 public:
  /// Takes the same rate in all rounds.
  explicit RateCourse(double rate, double momentum = 0);
  /// rate(t) of round t, for `rounds` rounds; after them the last one stays.
  RateCourse(const std::function<double(std::uint64_t)>& rate,
             std::uint64_t rounds,
             double momentum);

  double rate(std::uint64_t round) const;
  double time(std::uint64_t rounds) const;  ///< training time after so many rounds
  /// The first round whose training time is at least `time`, less a millionth for rounding.
  std::uint64_t rounds_until(double time) const;
  bool constant() const { return rates_.size() == 1; }

  /// The first `rounds` rounds, in stretches of whole `unit`s (the rest of a division is left out)
  /// within which the rate differs by at most a twentieth of the largest there; a stretch has the
  /// mean of its rates.
  std::vector<RateStretch> stretches(std::uint64_t rounds, std::uint64_t unit) const;

 private:
  void divide(std::uint64_t begin,
              std::uint64_t end,
              std::uint64_t unit,
              std::vector<RateStretch>& found) const;

  std::vector<double> rates_;
  std::vector<double> times_;  ///< after each of them
  double momentum_ = 0;
  double largest_ = 0;
};

}  // namespace gv
